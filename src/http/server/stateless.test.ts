import { describe, expect, test } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import { FakeReply } from '../../../test/support/http.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import type { Exchange, Handler } from '../../jsonrpc/handler.ts'
import { IdTable } from '../../jsonrpc/peer/id-table.ts'
import type { Endpoint } from '../../mcp/endpoint.ts'
import { deferred } from '../../util/promises.ts'
import { OpenStreams } from './sse-keep-alive.ts'
import { type OpenRequest, serveStateless } from './stateless.ts'

const both = { json: true, events: true }

function post(handle: Handler, accepts = both) {
  const reply = new FakeReply()
  const open = new IdTable<OpenRequest>()
  const failures: unknown[] = []
  const host = {
    endpoint: { handle } as Partial<Endpoint> as Endpoint,
    streams: new OpenStreams(),
    open,
    lastNumber: 0,
    longLived: new Set<OpenRequest>(),
    settled: 0,
    onError: (error: unknown) => void failures.push(error),
    onSettled: () => void host.settled++,
  }
  const message = { type: 'request', id: 5, method: 'x' } as const
  serveStateless({ message, request: {}, reply, accepts }, host)
  return { reply, open, failures, host }
}

describe('a stateless request', () => {
  test('is answered with JSON where nothing precedes the result', () => {
    proves('N5')
    const { reply, open, host } = post(() => ({ a: 1 }))
    expect(reply.json).toEqual({ jsonrpc: '2.0', id: 5, result: { a: 1 } })
    expect([open.size, host.settled]).toEqual([0, 1])
  })

  test('is answered by a stream that ends with the result, where something precedes it', async () => {
    proves('N5', 'N6c')
    const { reply } = post(async (_, { notify }) => {
      await notify('n')
      return {}
    })
    await reply.answered()
    expect(reply.messages.map(({ method, id }) => method ?? id)).toEqual(['n', 5])
  })

  test('sends no notifications to a client that accepts no events', async () => {
    const { reply } = post((_, { notify }) => notify('n') ?? {}, { json: true, events: false })
    expect((await reply.answered()).json.result).toEqual({})
  })

  const codes: readonly (readonly [number, number])[] = [
    [-32601, 404],
    [-32020, 400],
    [-32021, 400],
    [-32022, 400],
    [-32602, 200],
    [-32603, 200],
    [1, 200],
  ]
  test.each(codes)('that fails with %i has the status %i', (code, status) => {
    const { reply, failures } = post(() => {
      throw new RpcError(code, 'no')
    })
    expect([reply.status, reply.json.error.code]).toEqual([status, code])
    expect(failures).toEqual([])
  })

  test('whose handler throws reveals no details to the client', async () => {
    const { reply, failures } = post(() => Promise.reject(new Error('secret')))
    const { error } = (await reply.answered()).json
    expect(error).toEqual({ code: -32603, message: 'Internal error' })
    expect(String(failures)).toContain('secret')
  })

  test.each([
    ['a cycle', cycle()],
    ['a bigint', { a: 1n }],
  ])('whose result is %s is answered all the same', (_, result) => {
    const { reply, failures } = post(() => result)
    expect(reply.json).toMatchObject({ id: 5, error: { code: -32603 } })
    expect(failures).toHaveLength(1)
  })

  test('whose error data is not JSON is answered without the data', () => {
    const { reply } = post(() => {
      throw new RpcError(1, 'no', { data: cycle() })
    })
    expect(reply.json.error).toEqual({ code: 1, message: 'no' })
  })

  test('is cancelled when its client disconnects, and the result is dropped', async () => {
    proves('N7', 'N7c')
    const done = deferred<void>()
    let kept: Exchange | undefined
    const { reply, host, open } = post(async (_, exchange) => {
      kept = exchange
      exchange.signal.addEventListener('abort', () => done.resolve())
      await done.promise
      return {}
    })
    reply.leave()
    await done.promise
    expect([host.settled, open.size, reply.status]).toEqual([1, 0, undefined])
    expect(kept?.notify('n')).toBeUndefined()
    await Promise.resolve()
    expect(host.settled).toBe(1)
  })

  test('whose client has disconnected before has an aborted signal', () => {
    let isAborted = false
    const reply = new FakeReply()
    reply.leave()
    const endpoint = {
      handle: (_: unknown, { signal }: Exchange) => {
        isAborted = signal.aborted
        return {}
      },
    } as Partial<Endpoint> as Endpoint
    const host = {
      endpoint,
      streams: new OpenStreams(),
      open: new IdTable<OpenRequest>(),
      lastNumber: 0,
      longLived: new Set<OpenRequest>(),
      onError() {},
      onSettled() {},
    }
    const message = { type: 'request', id: 1, method: 'x' } as const
    serveStateless({ message, request: {}, reply, accepts: both }, host)
    expect(isAborted).toBe(true)
  })

  test('that is long-lived ends when the service closes', async () => {
    const { reply, open } = post(
      (_, exchange) => new Promise(resolve => exchange.onShutdown?.(() => resolve({ over: true }))),
    )
    for (const one of open.values()) one.end()
    expect((await reply.answered()).json.result).toEqual({ over: true })
  })

  test('that does not end in time gets an error, and is cancelled', () => {
    let reason: unknown
    const { reply, open, host } = post((_, { signal }) => {
      signal.addEventListener('abort', () => {
        reason = signal.reason
      })
      return new Promise(() => {})
    })
    for (const one of open.values()) one.abort()
    expect([reply.status, reply.json.id, host.settled]).toEqual([503, 5, 1])
    expect(String(reason)).toContain('closing')
  })
})

function cycle(): object {
  const object: { self?: object } = {}
  object.self = object
  return object
}
