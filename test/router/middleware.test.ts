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

/** Notes every call of a tool that passes, by its name there. */
function noting(seen: string[], where: string): Middleware {
  return next => (message, exchange) => {
    const name = isRecord(message.params) ? message.params.name : ''
    if (message.method === 'tools/call') seen.push(`${where} ${name}`)
    return next(message, exchange)
  }
}

/** Puts another text in place of the one that a tool is called with. */
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
  test('is passed from outside to inside: of the router, of all servers, of one', async () => {
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

  test.each(['in', 'outbound', 'of one'])(
    'may change what is asked and answered: %s',
    async where => {
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
    },
  )

  test.each(['in', 'outbound', 'of one'])('may answer instead, or refuse: %s', async where => {
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
    // What is answered before the limits counts at none of them.
    for (let call = 0; call < 3; call++) expect((await client.call('echo')).text).toBe('instead')
    expect(await failureOf(client.prompt('hello'))).toMatchObject({
      code: -32001,
      message: 'Not today',
    })
  })
})

test('middleware on the way to a server is passed once, however often the call is made again', async () => {
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

test('middleware on the way to a server does not hear of what the router asks for itself', async () => {
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
