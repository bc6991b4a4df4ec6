import { afterEach, describe, expect, test } from 'vitest'
import { memory } from '../../src/backplane/memory/memory.ts'
import { listen } from '../../src/listen.ts'
import type { ListenOptions } from '../../src/listen-options.ts'
import { Server } from '../../src/server/server.ts'
import type { Listener } from '../../src/transport/listener.ts'
import { eventData } from './event-data.ts'
import { callTool, endSession, listenTo, openSession, send } from './raw-session.ts'

const open: Listener[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map(listener => listener.close()))
})

/** A server whose tools say where they run. */
function serverNamed(name: string): Server {
  const server = new Server({ name: 'cluster', version: '1' })
  server.tool('where', {}, () => name)
  server.tool('log', {}, (_, ctx) => {
    ctx.log('info', `from ${name}`)
    return 'logged'
  })
  server.tool('progress', {}, async (_, ctx) => {
    await ctx.progress(1, 2)
    return `done at ${name}`
  })
  return server
}

/** Three nodes in this process. They share a backplane, as nodes in other processes share an engine. */
async function threeNodes(options: Partial<ListenOptions> = {}) {
  const backplane = memory()
  const servers = ['a', 'b', 'c'].map(serverNamed)
  const listeners = await Promise.all(
    servers.map(server => listen(server, 'http://127.0.0.1:0/mcp', { backplane, ...options })),
  )
  open.push(...listeners)
  const [a = '', b = '', c = ''] = listeners.map(({ address }) => address)
  return { a, b, c, listeners, servers }
}

function textOf(call: Awaited<ReturnType<typeof callTool>>): string | undefined {
  return call.message.result?.content?.[0]?.text
}

describe('sessions of a cluster', () => {
  test('every node serves a session, and its owner executes its calls', async () => {
    const { a, b, c } = await threeNodes()
    const session = await openSession(a)
    for (const node of [a, b, c]) expect(textOf(await callTool(node, session, 'where'))).toBe('a')
  })

  test('an unknown session is not found, at any node', async () => {
    const { a, b } = await threeNodes()
    for (const node of [a, b]) {
      for (const session of ['x', '0'.repeat(64)]) {
        expect((await callTool(node, session, 'where')).status).toBe(404)
      }
    }
  })

  test('a session that one node ends has ended at all of them', async () => {
    const { a, b, c } = await threeNodes()
    const session = await openSession(a)
    expect(await endSession(b, session)).toBe(204)
    for (const node of [a, b, c]) expect((await callTool(node, session, 'where')).status).toBe(404)
  })

  test('the standalone stream of another node gets the notifications of the owner', async () => {
    const { a, c, servers } = await threeNodes()
    const session = await openSession(a)
    const stream = await listenTo(c, session)
    expect(stream.status).toBe(200)
    servers[0]?.tool('new', {}, () => 'new')
    for await (const data of eventData(stream)) {
      expect(JSON.parse(data).method).toBe('notifications/tools/list_changed')
      break
    }
  })

  test('a change at one node reaches the clients of sessions at others', async () => {
    const { b, c, servers } = await threeNodes()
    for (const server of servers) server.resource('x', 'memo://x', {}, () => 'text')
    const session = await openSession(b)
    const subscribed = await send(c, session, {
      jsonrpc: '2.0',
      id: 1,
      method: 'resources/subscribe',
      params: { uri: 'memo://x' },
    })
    expect(subscribed.status).toBe(200)
    await subscribed.text()
    const stream = eventData(await listenTo(c, session))
    servers[0]?.updated('memo://x')
    servers[0]?.tool('new', {}, () => 'new')
    const wanted = new Set(['notifications/resources/updated', 'notifications/tools/list_changed'])
    for await (const data of stream) {
      wanted.delete(JSON.parse(data).method)
      if (wanted.size === 0) break
    }
    expect(wanted.size).toBe(0)
  })

  test('progress arrives before the result', async () => {
    const { a, b } = await threeNodes()
    const session = await openSession(a)
    const response = await send(b, session, {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'progress', arguments: {}, _meta: { progressToken: 7 } },
    })
    const methods: unknown[] = []
    for await (const data of eventData(response)) {
      methods.push(JSON.parse(data).method ?? JSON.parse(data).result.content[0].text)
    }
    expect(methods).toEqual(['notifications/progress', 'done at a'])
  })

  test('the response to a server request may arrive at any node', async () => {
    const { a, b, c, servers } = await threeNodes()
    servers[0]?.tool('ask', {}, async (_, ctx) => {
      await ctx.elicit({ message: 'Go on?', schema: { type: 'object' } })
      return 'the answer was accepted'
    })
    const session = await openSession(a, { elicitation: {} })
    const response = await send(b, session, {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'ask', arguments: {} },
    })
    let result: unknown
    for await (const data of eventData(response)) {
      const message = JSON.parse(data)
      if (message.method === 'elicitation/create') {
        const reply = { jsonrpc: '2.0', id: message.id, result: { action: 'accept', content: {} } }
        expect((await send(c, session, reply)).status).toBe(202)
      } else {
        result = message.result.content[0].text
      }
    }
    expect(result).toBe('the answer was accepted')
  })

  test('the sessions of a node that closes go on at another', async () => {
    const { a, b, c, listeners } = await threeNodes()
    const session = await openSession(a)
    await listeners[0]?.close()
    const places = [
      textOf(await callTool(b, session, 'where')),
      textOf(await callTool(c, session, 'where')),
    ]
    expect(places[0]).toBe(places[1])
    expect(['b', 'c']).toContain(places[0])
  })
})
