import { expect, test, vi } from 'vitest'
import { turn, wire } from '../../test/support/wire.ts'
import type { RevisionName } from '../mcp/revisions/revisions.ts'
import { Server } from '../server/server.ts'
import type { UpstreamOptions } from './options.ts'
import { Router } from './router.ts'

function upstream(...revisions: RevisionName[]): Server {
  const server = new Server({ name: 'upstream', version: '1' }, { revisions })
  server.tool('hi', {}, () => 'hi')
  server.resource('a', 'r:///a', {}, () => 'a')
  return server
}

const initialize = {
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: { roots: {} },
    clientInfo: { name: 'client', version: '1' },
  },
}

/** A session at a router with one server. */
async function open(connections: UpstreamOptions['connections'], server: Server) {
  const router = new Router({ servers: { up: { server, ...(connections && { connections }) } } })
  await router.ready()
  const end = wire()
  let changes = 0
  const session = router.attachSession(end.channel, {}, { onChange: () => changes++ })
  const send = (message: object) => end.deliver(JSON.stringify({ jsonrpc: '2.0', ...message }))
  send(initialize)
  await vi.waitFor(() => expect(end.sent).toHaveLength(1))
  send({ id: 1, method: 'tools/call', params: { name: 'up__hi' } })
  await vi.waitFor(() => expect(end.sent).toHaveLength(2))
  expect(end.sent[1]).toContain('"text":"hi"')
  return { router, session, send, end, changes: () => changes }
}

test.each([
  ['shared', true],
  ['compatible', true],
  ['per-caller', false],
] as const)('a session with %s connections can be moved: %s', async (connections, isMovable) => {
  const on = await open(connections, upstream('2025-11-25'))
  expect(on.session.isMovable).toBe(isMovable)
  expect(on.changes()).toBe(isMovable ? 1 : 2)
  await on.router.close()
})

test('a session with its own connection to a stateless server can be moved', async () => {
  const on = await open('per-caller', upstream('2026-07-28'))
  expect(on.session.isMovable).toBe(true)
  await on.router.close()
})

test('a session can be moved again when its own connection has closed', async () => {
  const on = await open('per-caller', upstream('2025-11-25'))
  expect(on.session.isMovable).toBe(false)
  await on.router.unregister('up')
  expect(on.session.isMovable).toBe(true)
  await on.router.close()
})

test('a router subscribes for a session that it continues', async () => {
  const first = await open(undefined, upstream('2025-11-25'))
  first.send({ id: 2, method: 'resources/subscribe', params: { uri: 'r:///a' } })
  await vi.waitFor(() => expect(first.end.sent).toHaveLength(3))
  const state = first.session.state()
  if (state === undefined) throw new Error('the session has no state')
  await first.router.close()
  const server = upstream('2025-11-25')
  const subscribed = new Promise(resolve => server.on('subscribe', ({ uri }) => resolve(uri)))
  const second = await open(undefined, server)
  const end = wire()
  second.router.attachSession(end.channel, {}, { state, onChange: () => {} })
  expect(await subscribed).toBe('r:///a')
  await turn()
  server.updated('r:///a')
  await vi.waitFor(() =>
    expect(end.sent.map(text => JSON.parse(text).method)).toContain(
      'notifications/resources/updated',
    ),
  )
  await second.router.close()
})
