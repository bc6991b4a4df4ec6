import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { InstanceStatus, UpstreamOptions } from '../../src/router/index.ts'
import { isAlive, until } from '../support/processes.ts'
import { turn } from '../support/wire.ts'
import { type Entry, type Ledger, ledgerHere } from './ledger.ts'
import { caller, routed } from './routed.ts'
import { overWebSocket } from './routed-wires.ts'

const program = fileURLToPath(new URL('web-worker.js', import.meta.url))

/** How a router reacts to a lost server: its breaker holds calls back, or it gives up and reconnects. */
const reactions: readonly [string, UpstreamOptions, (status: InstanceStatus) => boolean][] = [
  [
    'the breaker holds calls back until a health check succeeds',
    { health: { intervalMs: 20, failures: 1_000_000 } },
    ({ breaker }) => breaker === 'open',
  ],
  [
    'the router gives up the connection and reconnects',
    { breaker: false, health: { intervalMs: 20, failures: 2 }, restart: { minMs: 1, maxMs: 20 } },
    ({ state }) => state !== 'ready',
  ],
]

test.each(reactions)(
  'each call over the WebSocket of a killed server has one outcome; %s',
  {
    timeout: 300_000,
  },
  async (_, options, isGone) => {
    const ledger = ledgerHere('k')
    const before = await serving(ledger, 'http://127.0.0.1:0/mcp')
    const router = await routed({
      a: { url: before.address, prefix: false, trustAnnotations: true, ...options },
    })
    const status = (): InstanceStatus => router.server('a')?.instances[0] as InstanceStatus
    await overWebSocket(router, 'a')
    const clients = [
      await caller(router, { era: 'session' }),
      await caller(router, { era: 'stateless' }),
    ]
    // Each client may have its own connection, and first calls may be faster than its WebSocket.
    for (const client of clients) await expect.poll(() => wireOf(ledger, client)).toBe('websocket')
    const sofar = ledger.executed().length
    const held = clients.flatMap(client => [1, 2, 3].map(() => ledger.call(client, 'hold')))
    await until(() => ledger.executed().length === sofar + held.length)
    const load = calling(ledger, clients)
    await until(() => ledger.count('ok') >= 200)
    process.kill(before.pid, 'SIGKILL')
    const ends = await Promise.all(held)
    expect(ends.map(({ outcome }) => outcome)).toEqual(held.map(() => 'unknown'))
    expect(ends.map(end => runOf(ledger, end))).toEqual(
      held.map(() => ({ pid: before.pid, wire: 'websocket' })),
    )
    await until(() => isGone(status()))

    const after = await serving(ledger, before.address)
    const known = ledger.entries.length
    const later = () => ledger.entries.slice(known).filter(({ outcome }) => outcome === 'ok')
    await until(() => later().length >= 200)
    // The router retries a failed WebSocket after some seconds; calls do not wait for that.
    if (status().restarts > 0) await overWebSocket(router, 'a')
    await load.stop()

    expect(ledger.reconcile()).toEqual([])
    // The calls the server held, and what the callers had in flight at the kill and when the router gave up.
    expect(ledger.count('unknown')).toBeLessThanOrEqual(held.length + 2 * load.size)
    // A call that only reads may have been executed before the kill as well.
    expect(new Set(later().map(end => runsOf(ledger, end).at(-1)?.pid))).toEqual(
      new Set([after.pid]),
    )
  },
)

interface Run {
  readonly pid: number
  readonly wire: string
}

/** The process that executed a call first, and the wire it arrived on. */
function runOf(ledger: Ledger, entry: Entry): Run | undefined {
  return runsOf(ledger, entry)[0]
}

/** The processes that executed a call, in their order, and the wires it arrived on. */
function runsOf(ledger: Ledger, { nonce }: Entry): readonly Run[] {
  const lines = readFileSync(ledger.file, 'utf8').matchAll(
    new RegExp(`^${nonce} (\\d+) (\\w+)$`, 'gm'),
  )
  return Array.from(lines, ([, pid, wire]) => ({ pid: Number(pid), wire: `${wire}` }))
}

/** The wire on which a call of a client reaches the server. */
async function wireOf(ledger: Ledger, client: Client): Promise<string | undefined> {
  return runOf(ledger, await ledger.call(client, 'look', true))?.wire
}

/** The program `web-worker.js`, until the test finishes, unless it exits before. */
async function serving(ledger: Ledger, address: string) {
  const child = spawn(
    process.execPath,
    [program, JSON.stringify({ address, ledger: ledger.file })],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const pid = child.pid as number
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  })
  const exit = once(child, 'exit')
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return { pid, exit, address: String(line) }
}

/** Callers that call without a pause until they are stopped; half of their calls are repeatable. */
function calling(ledger: Ledger, clients: readonly Client[]) {
  let isOver = false
  const one = async (client: Client, tool: string): Promise<void> => {
    while (!isOver) {
      const { outcome } = await ledger.call(client, tool, tool === 'look')
      // Within one process refusals are immediate, and nothing else would ever run.
      if (outcome === 'not-done') await turn()
    }
  }
  const callers = clients.flatMap(client => [
    one(client, 'work'),
    one(client, 'work'),
    one(client, 'look'),
    one(client, 'look'),
  ])
  const all = Promise.all(callers)
  return {
    size: callers.length,
    stop: async () => {
      isOver = true
      await all
    },
  }
}
