import { describe, expect, onTestFinished, test } from 'vitest'
import type { Change } from '../../src/client/changes/changes.ts'
import type { Client } from '../../src/client/client.ts'
import { connect } from '../../src/connect.ts'
import type { Channel } from '../../src/jsonrpc/channel.ts'
import { listen } from '../../src/listen.ts'
import type { Endpoint } from '../../src/mcp/endpoint.ts'
import type { UpstreamOptions } from '../../src/router/index.ts'
import { Server } from '../../src/server/server.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { type Deferred, deferred } from '../../src/util/promises.ts'
import { until } from '../support/processes.ts'
import { caller, routed } from './routed.ts'

const eras = ['session', 'stateless'] as const
type Era = (typeof eras)[number]
const uri = 'x://one'

/** A server that confirms subscriptions of resources when it is told to. */
function reluctant(era: Era) {
  const revision = era === 'session' ? '2025-11-25' : '2026-07-28'
  const server = new Server(
    { name: 'slow', version: '1' },
    { revisions: [revision], onError: () => {} },
  )
  server.resource('one', uri, {}, () => 'read')
  const held: Deferred<void>[] = []
  let isHeld = true
  server.use(next => async (message, exchange) => {
    const isSubscription =
      message.method === 'resources/subscribe' ||
      (message.method === 'subscriptions/listen' && JSON.stringify(message.params).includes(uri))
    if (isHeld && isSubscription) {
      const go = deferred<void>()
      held.push(go)
      await go.promise
    }
    return next(message, exchange)
  })
  const confirm = (): void => {
    isHeld = false
    for (const { resolve } of held) resolve()
  }
  return { server, held, confirm }
}

type Where = 'in process' | 'a socket' | 'HTTP'
const wheres: readonly Where[] = ['in process', 'a socket', 'HTTP']

/** How a router reaches a server. */
async function reached(server: Endpoint, where: Where): Promise<UpstreamOptions> {
  if (where === 'in process') return { server }
  const address = where === 'HTTP' ? 'http://127.0.0.1:0/mcp' : 'tcp://127.0.0.1:0'
  const listener = await listen(server, address)
  onTestFinished(() => listener.close())
  return { url: listener.address, websocket: false }
}

/** Subscribes, and collects the updates. */
function subscribed(client: Client) {
  const seen: Change[] = []
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const changes = client.changes({ resources: [uri] }, { signal: stop.signal })
  const reading = async (): Promise<void> => {
    for await (const change of changes) seen.push(change)
  }
  reading().catch(() => {})
  let isReady = false
  const ready = changes.ready.then(() => {
    isReady = true
  })
  return { seen, ready, isReady: () => isReady }
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve))
}

const cells = eras.flatMap(front =>
  eras.flatMap(behind => wheres.map(where => [front, behind, where] as const)),
)

describe.each(cells)(
  'a subscription of a %s caller at a %s server over %s',
  (front, behind, where) => {
    test('is acknowledged when the server has confirmed it, and misses nothing from then on', async () => {
      const { server, held, confirm } = reluctant(behind)
      const router = await routed({ it: await reached(server, where) })
      const { seen, ready, isReady } = subscribed(await caller(router, { era: front }))
      await until(() => held.length > 0)
      await turns()
      expect(isReady()).toBe(false)
      confirm()
      await ready
      server.updated(uri)
      await until(() => seen.length > 0)
      expect(seen).toEqual([{ type: 'resource', uri }])
    })
  },
)

test.each(eras)('a %s caller over HTTP misses nothing either', async era => {
  const { server, held, confirm } = reluctant(era)
  const router = await routed({ it: { server } })
  const listener = await listen(router, 'http://127.0.0.1:0/mcp')
  onTestFinished(() => listener.close())
  const client = await connect(listener.address, { era })
  onTestFinished(() => client.close())
  const { seen, ready } = subscribed(client)
  await until(() => held.length > 0)
  confirm()
  await ready
  server.updated(uri)
  await until(() => seen.length > 0)
})

describe.each(eras)('a subscription at a %s server', era => {
  test('is acknowledged after a while, and followed by an update once it is confirmed', async () => {
    const clock = fakeClock()
    const { server, held, confirm } = reluctant(era)
    const router = await routed({ it: { server, health: { intervalMs: 0 } } }, { clock })
    const { seen, ready } = subscribed(await caller(router, { era: 'stateless' }))
    await until(() => held.length > 0)
    clock.advance(limits.subscribeWaitMs.default)
    await ready
    server.updated(uri)
    await turns()
    expect(seen).toEqual([])
    confirm()
    await until(() => seen.length > 0)
    expect(seen).toEqual([{ type: 'resource', uri }])
  })

  test('is followed by an update after the connection to the server was lost', async () => {
    const { server, confirm } = reluctant(era)
    confirm()
    const channels: Channel[] = []
    const endpoint: Endpoint = {
      profile: server.profile,
      revisions: server.revisions,
      handle: server.handle,
      attach: (channel, envelope) => {
        channels.push(channel)
        return server.attach(channel, envelope)
      },
    }
    const router = await routed({ it: { server: endpoint, restart: { minMs: 1, maxMs: 5 } } })
    const { seen, ready } = subscribed(await caller(router, { era: 'stateless' }))
    await ready
    await channels.at(-1)?.close()
    await until(() => seen.length > 0)
    expect(seen).toEqual([{ type: 'resource', uri }])
  })

  test('to a list misses no change after it is acknowledged', async () => {
    const { server } = reluctant(era)
    const tool = server.tool('work', {}, () => 'done')
    const router = await routed({ it: await reached(server, 'HTTP') })
    const client = await caller(router)
    const changes = client.changes({ tools: true })
    await changes.ready
    tool.update({ description: 'new' })
    expect(await changes.next()).toMatchObject({ value: { type: 'tools' } })
    await changes.return()
  })
})

test('a session is notified of a list change right after it is ready', async () => {
  const server = new Server({ name: 'it', version: '1' }, { revisions: ['2025-11-25'] })
  const tool = server.tool('work', {}, () => 'done')
  const initialized = deferred<void>()
  server.use(next => async (message, exchange) => {
    if (message.method === 'notifications/initialized') await initialized.promise
    return next(message, exchange)
  })
  await using listener = await listen(server, 'http://127.0.0.1:0/mcp')
  await using client = await connect(listener.address, { era: 'session' })
  const changes = client.changes({ tools: true })
  initialized.resolve()
  await changes.ready
  tool.update({ description: 'new' })
  expect(await changes.next()).toMatchObject({ value: { type: 'tools' } })
  await changes.return()
})
