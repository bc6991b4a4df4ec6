import { describe, expect, test } from 'vitest'
import { ChannelError, type ChannelErrorCode } from '../../jsonrpc/channel.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Fault, instanceFaultOf, retryAfterMsOf } from './fault.ts'

function channelError(code: ChannelErrorCode, cause?: object): ChannelError {
  return new ChannelError(code, 'x', { cause: cause && Object.assign(new Error('y'), cause) })
}

function answered(status: number, headers: Record<string, string> = {}): ChannelError {
  return channelError('refused', { status, headers: new Headers(headers) })
}

test.each<[string, unknown, Fault]>([
  ['an error response', new RpcError(-32000, 'x'), 'none'],
  ['a cancellation', new DOMException('x', 'AbortError'), 'none'],
  ['arguments that are not JSON', channelError('unserialisable'), 'none'],
  ['a connection that is full', channelError('too-many'), 'none'],
  ['a refused connection', channelError('closed', { code: 'ECONNREFUSED' }), 'unsent'],
  ['no handles left', channelError('closed', { code: 'EMFILE', syscall: 'connect' }), 'shortage'],
  ['status 429', answered(429), 'busy'],
  ['status 503', answered(503), 'busy'],
  ['status 401', answered(401), 'credentials'],
  ['status 403', answered(403), 'credentials'],
  ['status 407', answered(407), 'credentials'],
  ['status 404', answered(404), 'failure'],
  ['a redirect', answered(302), 'failure'],
  ['status 500', channelError('outcome-unknown', { status: 500 }), 'failure'],
  ['a lost connection', channelError('outcome-unknown', { code: 'ECONNRESET' }), 'failure'],
  ['a timeout', channelError('timeout'), 'failure'],
])('%s', (_, error, expected) => {
  expect(instanceFaultOf(error)).toBe(expected)
})

describe('Retry-After', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  test.each<[string, number | undefined]>([
    ['2', 2000],
    [' 120 ', 120_000],
    ['0', 0],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['99999999999', limits.retryAfterMs.default],
    ['soon', undefined],
    ['', undefined],
  ])('"%s"', (text, expected) => {
    expect(retryAfterMsOf(answered(429, { 'retry-after': text }), now)).toBe(expected)
  })

  test('is unknown where there is none', () => {
    expect(retryAfterMsOf(answered(429))).toBeUndefined()
    expect(retryAfterMsOf(channelError('closed'))).toBeUndefined()
  })
})
