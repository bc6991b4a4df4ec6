import { describe, expect, test } from 'vitest'
import type { Channel } from '../../src/jsonrpc/channel.ts'
import { RpcError } from '../../src/jsonrpc/error.ts'
import type { Middleware } from '../../src/jsonrpc/handler.ts'
import type { Endpoint } from '../../src/mcp/endpoint.ts'
import { Router } from '../../src/router/router.ts'
import { Server } from '../../src/server/server.ts'
import { isRecord } from '../../src/util/objects.ts'
import { caller, failureOf, routed } from './routed.ts'

const eras = ['session', 'stateless'] as const

function echo(): Server {
  const server = new Server({ name: 'echo', version: '1' })
  const input = { type: 'object', properties: { text: { type: 'string' } } } as const
  server.tool('echo', { input }, ({ text = '' }) => text)
  server.prompt('hello', {}, () => 'hello')
  return server
}

/** Records every tool call that passes, by its name at that point. */
function noting(seen: string[], where: string): Middleware {
  return next => (message, exchange) => {
    const name = isRecord(message.params) ? message.params.name : ''
    if (message.method === 'tools/call') seen.push(`${where} ${name}`)
    return next(message, exchange)
  }
}

/** Replaces the text argument of a tool call. */
function replacing(make: (text: string) => string): Middleware {
  return next => (message, exchange) => {
    const params = isRecord(message.params) ? message.params : {}
    const given = isRecord(params.arguments) ? params.arguments : {}
    if (message.method !== 'tools/call') return next(message, exchange)
    const changed = { ...params, arguments: { ...given, text: make(String(given.text)) } }
    return next({ ...message, params: changed }, exchange)
  }
}

describe.each(eras)('middleware around a call of a %s caller', era => {
  test('runs from the outside in: router, all servers, one server', async () => {
    const seen: string[] = []
    const use = [noting(seen, 'first of one'), noting(seen, 'second of one')]
    const router = await routed(
      { a: { server: echo(), use }, b: echo() },
      { outbound: [noting(seen, 'outbound')] },
    )
    router.use(noting(seen, 'in'))
    const client = await caller(router, { era })
    await client.call('a__echo', { text: 'x' })
    expect(seen.splice(0)).toEqual([
      'in a__echo',
      'outbound echo',
      'first of one echo',
      'second of one echo',
    ])
    await client.call('b__echo', { text: 'x' })
    expect(seen).toEqual(['in b__echo', 'outbound echo'])
  })

  test.each(['in', 'outbound', 'of one'])('may change requests and results: %s', async where => {
    const shout = replacing(text => text.toUpperCase())
    const answer: Middleware = next => async (message, exchange) => {
      const result = await next(message, exchange)
      if (message.method !== 'tools/call' || !isRecord(result)) return result
      return {
        ...result,
        content: [{ type: 'text', text: 'changed' }, ...(result.content as [])],
      }
    }
    const both = [shout, answer]
    const options = { ...(where === 'outbound' && { outbound: both }) }
    const use = where === 'of one' ? both : []
    const router = await routed({ a: { server: echo(), use, prefix: false } }, options)
    if (where === 'in') for (const one of both) router.use(one)
    const client = await caller(router, { era })
    const { content } = await client.call('echo', { text: 'quiet' })
    expect(content).toMatchObject([{ text: 'changed' }, { text: 'QUIET' }])
  })

  test.each(['in', 'outbound', 'of one'])('may answer or refuse a call: %s', async where => {
    const instead: Middleware = next => (message, exchange) => {
      if (message.method === 'prompts/get') throw new RpcError(-32001, 'Not today')
      if (message.method !== 'tools/call') return next(message, exchange)
      return { content: [{ type: 'text', text: 'instead' }] }
    }
    const use = where === 'of one' ? [instead] : []
    const limits = { perSecond: 0.001 }
    const router = await routed(
      { a: { server: echo(), use, prefix: false, limits } },
      { ...(where === 'outbound' && { outbound: [instead] }) },
    )
    if (where === 'in') router.use(instead)
    const client = await caller(router, { era })
    // A call that middleware answers before the limits does not count against them.
    for (let call = 0; call < 3; call++) expect((await client.call('echo')).text).toBe('instead')
    expect(await failureOf(client.prompt('hello'))).toMatchObject({
      code: -32001,
      message: 'Not today',
    })
  })
})

test('outbound middleware runs once, however often the call is retried', async () => {
  const server = new Server({ name: 'mortal', version: '1' })
  const channels: Channel[] = []
  let calls = 0
  server.tool('look', { annotations: { readOnlyHint: true } }, async () => {
    if (++calls === 1) await channels[0]?.close()
    return 'seen'
  })
  const endpoint: Endpoint = {
    profile: server.profile,
    revisions: server.revisions,
    handle: server.handle,
    attach: (channel, envelope) => {
      channels.push(channel)
      return server.attach(channel, envelope)
    },
  }
  const seen: string[] = []
  const options = { trustAnnotations: true, restart: { minMs: 1, maxMs: 1 } }
  const router = await routed(
    { it: { server: endpoint, ...options } },
    { outbound: [noting(seen, 'outbound')] },
  )
  const client = await caller(router)
  expect((await client.call('it__look')).text).toBe('seen')
  expect([calls, seen]).toEqual([2, ['outbound look']])
})

test('outbound middleware does not see the requests of the router itself', async () => {
  const seen: string[] = []
  const router = new Router({
    servers: { it: echo() },
    outbound: [
      next => (message, exchange) => {
        seen.push(message.method)
        return next(message, exchange)
      },
    ],
  })
  await router.ready()
  const client = await caller(router)
  await client.tools()
  expect(seen).toEqual([])
  await router.close()
})
