import { describe, expect, test } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import type { Exchange, Handler } from '../../jsonrpc/handler.ts'
import type { RpcRequest } from '../../jsonrpc/message.ts'
import { type RateLimitOptions, rateLimit } from './rate-limit.ts'

function limited(options: RateLimitOptions) {
  const handler: Handler = rateLimit(options)(() => 'done')
  return (method: string, principal?: string): unknown => {
    const message: RpcRequest = { type: 'request', id: 1, method, params: undefined }
    const envelope = principal === undefined ? {} : { principal: { id: principal } }
    return handler(message, { envelope } as Exchange)
  }
}

describe('the rate of requests', () => {
  test.each(['tools/call', 'completion/complete', 'tasks/get'])('of %s can be limited', method => {
    proves('S12c', 'U9i', 'K16g')
    let now = 0
    const methods = { 'tools/call': rate, 'completion/complete': rate, 'tasks/*': rate }
    const call = limited({ methods, now: () => now })
    expect([call(method), call(method)]).toEqual(['done', 'done'])
    expect(() => call(method)).toThrow(
      expect.objectContaining({ kind: 'rate_limited', code: -32010, data: { retryAfterMs: 100 } }),
    )
    expect(call('ping')).toBe('done')
    now += 100
    expect(call(method)).toBe('done')
  })

  const rate = { perSecond: 10, burst: 2 }

  test('is one for each principal', () => {
    const call = limited({ methods: { '*': { perSecond: 1 } }, now: () => 0 })
    expect(call('a', 'ann')).toBe('done')
    expect(() => call('a', 'ann')).toThrow('Rate limit exceeded')
    expect(call('a', 'bob')).toBe('done')
    expect(call('a')).toBe('done')
    expect(() => call('a')).toThrow('Rate limit exceeded')
  })

  test('is that of the longest name that fits', () => {
    const methods = { '*': { perSecond: 1 }, 'tools/*': { perSecond: 1, burst: 3 } }
    const call = limited({ methods, now: () => 0 })
    expect([call('tools/call'), call('tools/list'), call('tools/call')]).toHaveLength(3)
    expect(() => call('tools/call')).toThrow('Rate limit exceeded')
  })

  test('is kept for a limited number of callers, and the least recent one is dropped', () => {
    const call = limited({ methods: { '*': { perSecond: 1 } }, maxCallers: 2, now: () => 0 })
    for (const name of ['ann', 'bob', 'eve']) call('a', name)
    expect(call('a', 'ann')).toBe('done')
    expect(() => call('a', 'eve')).toThrow('Rate limit exceeded')
  })

  test.each([{ perSecond: 0 }, { perSecond: -1 }, { perSecond: 1, burst: 0 }])(
    'must let something through: %o',
    rate => {
      expect(() => rateLimit({ methods: { a: rate } })).toThrow('the rate of "a"')
    },
  )
})
