import { describe, expect, test } from 'vitest'
import { FakeReply, httpRequest } from '../../../test/support/http.ts'
import { methods } from '../../jsonrpc/handler.ts'
import { deferred } from '../../util/promises.ts'
import { RpcService, type RpcServiceOptions } from './jsonrpc.ts'

const headers = { 'content-type': 'application/json' }

function service(options?: RpcServiceOptions) {
  const gate = deferred<void>()
  let isAborted = false
  const answers = methods({
    add: (a: number, b: number) => a + b,
    wait: async () => {
      await gate.promise
      return 'waited'
    },
    watch: (_: object, exchange: { readonly signal: AbortSignal }) => {
      exchange.signal.addEventListener('abort', () => {
        isAborted = true
      })
      return new Promise(() => {})
    },
  })
  const it = new RpcService(answers, options)
  const post = (body: unknown): FakeReply => {
    const reply = new FakeReply()
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    it.handle(httpRequest({ headers, body: text }), reply)
    return reply
  }
  return { it, post, gate, isAborted: () => isAborted }
}

const add = (id?: number) => ({ jsonrpc: '2.0', id, method: 'add', params: [1, 2] })

describe('plain JSON-RPC over HTTP', () => {
  test('answers a request with its reply', async () => {
    const reply = await service().post(add(1)).answered()
    expect([reply.status, reply.json]).toEqual([200, { jsonrpc: '2.0', id: 1, result: 3 }])
  })

  test('answers a batch with one', async () => {
    const reply = await service()
      .post([add(1), add(), add(2)])
      .answered()
    expect(reply.json.map((one: { id: number }) => one.id).sort()).toEqual([1, 2])
  })

  test.each([
    ['a notification', add()],
    ['a batch of them', [add(), add()]],
    ['a reply', { jsonrpc: '2.0', id: 1, result: 1 }],
  ])('answers %s with an empty response', async (_, body) => {
    const reply = await service().post(body).answered()
    expect([reply.status, reply.body]).toEqual([204, undefined])
  })

  test.each([
    ['{', -32700],
    ['1', -32600],
    ['[]', -32600],
  ])('reports what is wrong with %s', async (body, code) => {
    const reply = await service().post(body).answered()
    expect([reply.status, reply.json.error.code]).toEqual([200, code])
  })

  test('refuses a body that is too large', async () => {
    const reply = await service({ decode: { maxBytes: 10 } })
      .post(add(1))
      .answered()
    expect([reply.status, reply.json.error.code]).toEqual([413, -32012])
  })

  test.each([
    [405, { method: 'GET' }],
    [404, { target: '/x', headers }],
    [415, {}],
  ])('answers with %i what is no POST of JSON to its path', (status, asking) => {
    const reply = new FakeReply()
    service({ path: '/mcp' }).it.handle(httpRequest(asking), reply)
    expect(reply.status).toBe(status)
    if (status === 405) expect(reply.headers.allow).toBe('POST')
  })

  test('limits the requests in flight', async () => {
    const { post, gate } = service({ maxInFlight: 1 })
    const first = post({ jsonrpc: '2.0', id: 1, method: 'wait' })
    const second = post(add(2))
    expect([second.status, second.headers['retry-after']]).toEqual([503, '1'])
    gate.resolve()
    expect((await first.answered()).json.result).toBe('waited')
    await new Promise(resolve => setImmediate(resolve))
    expect((await post(add(3)).answered()).status).toBe(200)
  })

  test('cancels the request of a client that disconnects', async () => {
    const { post, isAborted } = service()
    const reply = post({ jsonrpc: '2.0', id: 1, method: 'watch', params: {} })
    await Promise.resolve()
    reply.leave()
    expect(isAborted()).toBe(true)
  })

  test('answers requests in flight when it closes, and accepts no others once it has', async () => {
    const { it, post, gate } = service()
    const first = post({ jsonrpc: '2.0', id: 1, method: 'wait' })
    const closing = it.close()
    expect((await post(add(2)).answered()).status).toBe(200)
    gate.resolve()
    expect((await first.answered()).json.result).toBe('waited')
    await closing
    const late = post(add(2))
    expect([late.status, late.headers['retry-after']]).toEqual([503, '1'])
  })
})
