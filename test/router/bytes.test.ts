import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect.ts'
import { listen } from '../../src/listen.ts'
import type { Endpoint } from '../../src/mcp/endpoint.ts'
import { type Observable, observe } from '../../src/observe/observe.ts'
import { withSessionEvents } from '../../src/observe/observed.ts'
import type { UpstreamOptions } from '../../src/router/options.ts'
import { Router } from '../../src/router/router.ts'
import { Server } from '../../src/server/server.ts'
import { until } from '../support/processes.ts'
import { worker } from './ledger.ts'

const long = 'x'.repeat(10_000)

/** A server whose tool echoes its argument. */
function echo(): Server {
  const server = new Server({ name: 'echo', version: '1' })
  const input = { type: 'object', properties: { nonce: { type: 'string' } } } as const
  server.tool('work', { input }, ({ nonce = '' }) => nonce)
  return server
}

/** The byte counters, by metric name and label. */
function figures(endpoint: Observable & Endpoint, server?: string): () => Map<string, number> {
  const observer = observe({ endpoint, server })
  onTestFinished(() => observer.close())
  return () => {
    const lines = observer
      .metricsText()
      .matchAll(/^trunkline_(\w+)_bytes_total\{server="(\w*)"\} (\d+)$/gm)
    return new Map(
      Array.from(lines, ([, name, label, value]) => [`${name} ${label}`, Number(value)]),
    )
  }
}

async function listening(endpoint: Endpoint, address: string): Promise<string> {
  const listener = await listen(endpoint, address)
  onTestFinished(() => listener.close())
  return listener.address
}

const addresses = [
  'tcp://127.0.0.1:0',
  `unix:${join(tmpdir(), `bytes-${process.pid}.sock`)}`,
  'ws://127.0.0.1:0/mcp',
  'http://127.0.0.1:0/mcp',
]

test.each(addresses)(
  'bytes from callers are counted at %s for as long as it is served',
  async address => {
    const server = echo()
    const counts = figures(server, 'it')
    expect(counts().get('received it')).toBe(0)
    const client = await connect(await listening(withSessionEvents(server), address))
    await client.call('work', { nonce: long })
    const [received = 0, sent = 0] = [counts().get('received it'), counts().get('sent it')]
    // The text once, plus at most as much again for headers, handshakes and the tool list.
    expect(received).toBeGreaterThan(long.length)
    expect(received).toBeLessThan(2 * long.length)
    expect(sent).toBeGreaterThan(long.length)
    expect(sent).toBeLessThan(2 * long.length)
    await client.close()
    // A closed connection still counts.
    await until(() => (counts().get('received it') ?? 0) >= received)
    expect(counts().get('sent it')).toBeGreaterThanOrEqual(sent)
  },
)

test.each<[string, () => Promise<UpstreamOptions>]>([
  ['a program', async () => worker()],
  ['a socket', async () => ({ url: await listening(echo(), 'tcp://127.0.0.1:0') })],
  ['a WebSocket', async () => ({ url: await listening(echo(), 'ws://127.0.0.1:0/mcp') })],
  [
    'HTTP',
    async () => ({ url: await listening(echo(), 'http://127.0.0.1:0/mcp'), websocket: false }),
  ],
  [
    'HTTP with a WebSocket',
    async () => ({ url: await listening(echo(), 'http://127.0.0.1:0/mcp') }),
  ],
])('bytes exchanged with an upstream server are counted: %s', async (_, options) => {
  const router = new Router({ servers: { it: await options() } })
  onTestFinished(() => router.close({ drainMs: 0 }))
  await router.ready()
  const counts = figures(router)
  const before = counts()
  const client = await connect(router)
  onTestFinished(() => client.close())
  for (let call = 0; call < 3; call++) await client.call('it__work', { nonce: long })
  const after = counts()
  for (const name of ['upstream_received it', 'upstream_sent it']) {
    const passed = (after.get(name) ?? 0) - (before.get(name) ?? 0)
    expect(passed).toBeGreaterThan(3 * long.length)
    expect(passed).toBeLessThan(4 * long.length)
  }
  // No caller connected through an address.
  expect([after.get('received '), after.get('sent ')]).toEqual([0, 0])
})
