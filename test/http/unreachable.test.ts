import { afterEach, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { ClientOptions } from '../../src/client/options.ts'
import { connect } from '../../src/connect.ts'
import { listen } from '../../src/listen.ts'
import { Router } from '../../src/router/router.ts'
import { Server } from '../../src/server/server.ts'
import type { Listener } from '../../src/transport/listener.ts'
import { deferred } from '../../src/util/promises.ts'
import { Owned } from '../support/channel.ts'
import { pollOptions } from '../support/poll-options.ts'

const owned = new Owned()
afterEach(() => owned.closeAll())

const eras = ['2025-11-25', '2026-07-28', '2026-07-28 with a WebSocket'] as const
type Era = (typeof eras)[number]

const revisionOf = (era: Era) => (era === '2025-11-25' ? era : '2026-07-28')

/** So many attempts, so close together, that only the test decides when the server is back. */
const patient = { attempts: 100_000, baseMs: 5, maxMs: 5 }

const held = { content: [{ type: 'text', text: 'held' }] }
const echo = { content: [{ type: 'text', text: 'echo' }] }

/** A server with a tool that answers when the test says so, and one that answers at once. */
async function holdingServer(address = 'http://127.0.0.1:0/mcp') {
  const server = owned.add(new Server({ name: 's', version: '1' }))
  const released = deferred<void>()
  const entered: (() => void)[] = []
  let inFlight = 0
  server.tool('hold', { description: 'Waits.' }, async () => {
    inFlight++
    for (const wake of entered.splice(0)) wake()
    await released.promise
    return 'held'
  })
  server.tool('echo', { description: 'Answers.' }, () => 'echo')
  const listener: Listener = owned.add(await listen(server, address))
  return {
    address: listener.address,
    listener,
    release: () => released.resolve(),
    hasEntered: async (count: number) => {
      while (inFlight < count) await new Promise<void>(resolve => entered.push(resolve))
    },
  }
}

async function clientOf(address: string, era: Era, options: ClientOptions): Promise<Client> {
  const onSocket = deferred<void>()
  const websocket = era.includes('WebSocket')
  const client = await connect(address, {
    revisions: [revisionOf(era)],
    websocket,
    onWebSocket: () => onSocket.resolve(),
    onError: () => {},
    ...options,
  })
  if (websocket) await onSocket.promise
  return owned.add(client)
}

describe.each(eras)('a server that drains, in %s', era => {
  test('answers what it got, while requests that it cannot get fail alone', async () => {
    const server = await holdingServer()
    const client = await clientOf(server.address, era, { reconnect: false })
    const calls = [1, 2, 3].map(() => client.call('hold'))
    await server.hasEntered(3)
    const closed = server.listener.close()
    // Idle connections are served for a moment, and then closed.
    const outcome = () =>
      client.call('echo').then(
        () => 'answered',
        ({ code }) => code,
      )
    await expect.poll(outcome, pollOptions).toBe('closed')
    server.release()
    for (const result of await Promise.all(calls)) expect(result).toMatchObject(held)
    await closed
    await holdingServer(server.address)
    if (era.startsWith('2026')) await expect.poll(outcome, pollOptions).toBe('answered')
  })

  test('answers what it got, while other requests wait for the next server', async () => {
    const server = await holdingServer()
    const client = await clientOf(server.address, era, { reconnect: patient })
    const calls = [1, 2, 3].map(() => client.call('hold'))
    const changes = client.changes({ tools: true })
    await changes.ready
    await server.hasEntered(3)
    const closed = server.listener.close()
    const waiting = client.call('echo', {}, { timeoutMs: 0 })
    await holdingServer(server.address)
    expect(await waiting).toMatchObject(echo)
    server.release()
    for (const result of await Promise.all(calls)) expect(result).toMatchObject(held)
    await closed
    expect(await changes.next()).toMatchObject({ value: { type: 'reconnected' } })
  })

  test('answers what it got through a router', async () => {
    const server = await holdingServer()
    const websocket = era.includes('WebSocket')
    const router = owned.add(new Router({ servers: { s: { url: server.address, websocket } } }))
    const client = owned.add(await connect(router, { revisions: [revisionOf(era)] }))
    await router.ready()
    const calls = [1, 2, 3].map(() => client.call('s__hold'))
    await server.hasEntered(3)
    const closed = server.listener.close()
    await client.call('s__echo').catch(() => {})
    server.release()
    for (const result of await Promise.all(calls)) expect(result).toMatchObject(held)
    await closed
  })
})

test('a request that waits for its server ends with its timeout, its signal or its client', async () => {
  const server = await holdingServer()
  const client = await clientOf(server.address, '2026-07-28', { reconnect: patient })
  await server.listener.close()
  const stop = new AbortController()
  const stopped = client.call('echo', {}, { signal: stop.signal })
  stop.abort('enough')
  await expect(stopped).rejects.toBe('enough')
  await expect(client.call('echo', {}, { timeoutMs: 20 })).rejects.toMatchObject({
    code: 'timeout',
  })
  const last = client.call('echo')
  last.catch(() => {})
  await client.close()
  await expect(last).rejects.toMatchObject({ code: 'closed' })
})
