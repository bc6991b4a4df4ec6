import { describe, expect, onTestFinished, test } from 'vitest'
import type { Change } from '../../src/client/changes/changes.ts'
import type { Client } from '../../src/client/client.ts'
import type { Channel } from '../../src/jsonrpc/channel.ts'
import type { RpcNotification, RpcRequest } from '../../src/jsonrpc/message.ts'
import type { Endpoint } from '../../src/mcp/endpoint.ts'
import type { Router } from '../../src/router/index.ts'
import { Server } from '../../src/server/server.ts'
import { isRecord, stringsIn } from '../../src/util/objects.ts'
import { until } from '../support/processes.ts'
import { caller, routed } from './routed.ts'

const eras = ['session', 'stateless'] as const
type Era = (typeof eras)[number]

/** A server of one era, and the URIs of each subscription request to it. */
function watched(era: Era, options: { readonly refuses?: string } = {}) {
  const revision = era === 'session' ? '2025-11-25' : '2026-07-28'
  const onError = () => {}
  const server = new Server({ name: 'watched', version: '1' }, { revisions: [revision], onError })
  const asked: (readonly string[])[] = []
  server.use(next => (message, exchange) => {
    const uris = urisIn(message)
    if (uris.length > 0) asked.push(uris)
    if (options.refuses !== undefined && uris.includes(options.refuses)) {
      throw new Error('not that one')
    }
    return next(message, exchange)
  })
  return { server, asked }
}

/** The URIs that a message subscribes to. */
function urisIn({ method, params }: RpcRequest | RpcNotification): readonly string[] {
  if (!isRecord(params)) return []
  if (method === 'resources/subscribe') return [String(params.uri)]
  if (method !== 'subscriptions/listen' || !isRecord(params.notifications)) return []
  return stringsIn(params.notifications.resourceSubscriptions) ?? []
}

/** The updates that a client receives. */
function updatesOf(client: Client, uris: readonly string[]): Change[] {
  const seen: Change[] = []
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const listening = async (): Promise<void> => {
    for await (const change of client.changes({ resources: uris }, { signal: stop.signal })) {
      seen.push(change)
    }
  }
  listening().catch(() => {})
  return seen
}

/** Repeats an update until the client receives it, because an update before the subscription is lost. */
async function isNotified(server: Server, uri: string, seen: readonly Change[]): Promise<void> {
  await until(() => {
    server.updated(uri)
    return seen.some(change => change.type === 'resource' && change.uri === uri)
  })
}

const cells = eras.flatMap(front => eras.map(behind => [front, behind] as const))

describe.each(cells)('a %s caller that watches resources of a %s server', (front, behind) => {
  const watching = (router: Router) => caller(router, { era: front })

  test('gets updates although the server refuses a subscription of another caller', async () => {
    const { server, asked } = watched(behind, { refuses: 'x://b' })
    server.resourceTemplate('any', 'x://{name}', {}, () => 'read')
    const router = await routed({ server })
    const good = updatesOf(await watching(router), ['x://a'])
    await isNotified(server, 'x://a', good)
    updatesOf(await watching(router), ['x://b'])
    await until(() => asked.some(uris => uris.includes('x://b')))
    good.length = 0
    await isNotified(server, 'x://a', good)
    const late = updatesOf(await watching(router), ['x://c'])
    await isNotified(server, 'x://c', late)
  })

  test('gets updates again after the connection to the server was lost', async () => {
    const { server } = watched(behind)
    server.resource('one', 'x://one', {}, () => 'read')
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
    const seen = updatesOf(await watching(router), ['x://one'])
    await isNotified(server, 'x://one', seen)
    await channels.at(-1)?.close()
    await until(() => channels.length > 1)
    seen.length = 0
    await isNotified(server, 'x://one', seen)
  })

  test('gets updates of a resource that no server lists, where only one server has resources', async () => {
    const { server } = watched(behind)
    server.resource('unlisted', 'x://unlisted', {}, () => 'read')
    server.use(
      next => (message, exchange) =>
        message.method === 'resources/list' ? { resources: [] } : next(message, exchange),
    )
    const other = new Server({ name: 'other', version: '1' })
    other.tool('work', {}, () => 'done')
    const router = await routed({ other, server })
    const seen = updatesOf(await watching(router), ['x://unlisted'])
    await isNotified(server, 'x://unlisted', seen)
  })

  test('gets updates from the next server that has them when the first is removed', async () => {
    const first = watched(behind)
    const second = watched(behind)
    for (const { server } of [first, second]) server.resource('both', 'x://both', {}, () => 'read')
    const router = await routed({ first: first.server, second: second.server })
    const seen = updatesOf(await watching(router), ['x://both'])
    await isNotified(first.server, 'x://both', seen)
    await router.unregister('first')
    seen.length = 0
    await isNotified(second.server, 'x://both', seen)
  })
})

test.each(eras)(
  'a %s server gets one subscription for everything that a caller starts to watch',
  async era => {
    const { server, asked } = watched(era)
    server.resourceTemplate('any', 'x://{name}', {}, () => 'read')
    const router = await routed({ server })
    const uris = Array.from({ length: 50 }, (_, at) => `x://${at}`)
    const seen = updatesOf(await caller(router, { era: 'stateless' }), uris)
    await isNotified(server, 'x://49', seen)
    expect(asked.flat()).toHaveLength(50)
  },
)
