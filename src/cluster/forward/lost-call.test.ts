import { describe, expect, test } from 'vitest'
import { lostCall } from './lost-call.ts'

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const request = (method: string, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params: {} })

describe('a call whose node was lost', () => {
  test('can be repeated if it only reads', () => {
    for (const method of ['ping', 'tools/list', 'resources/read', 'completion/complete']) {
      expect(lostCall(bytes(request(method))).isRepeatable).toBe(true)
    }
  })

  test('has an unknown outcome if a tool may have been executed', () => {
    const { isRepeatable, reply = '' } = lostCall(bytes(request('tools/call', 'x')))
    expect(isRepeatable).toBe(false)
    expect(JSON.parse(reply)).toMatchObject({ id: 'x', error: { data: { outcome: 'unknown' } } })
  })

  test('gets an error for each request of a batch', () => {
    const batch = [request('ping', 1), { jsonrpc: '2.0', method: 'x' }, request('tools/call', 2)]
    const { isRepeatable, reply = '' } = lostCall(bytes(batch))
    expect(isRepeatable).toBe(false)
    expect(JSON.parse(reply)).toMatchObject([{ id: 1 }, { id: 2 }])
  })

  test('needs no response if it is a notification or a response', () => {
    expect(lostCall(bytes({ jsonrpc: '2.0', method: 'notifications/x' }))).toEqual({
      isRepeatable: true,
      reply: undefined,
    })
    expect(lostCall(bytes({ jsonrpc: '2.0', id: 1, result: {} }))).toEqual({
      isRepeatable: false,
      reply: undefined,
    })
  })
})
