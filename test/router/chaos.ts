import { appendFileSync } from 'node:fs'
import { onTestFinished, vi } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { listen } from '../../src/listen.ts'
import type { UpstreamOptions } from '../../src/router/options.ts'
import { Server } from '../../src/server/server.ts'
import { pollOptions } from '../support/poll-options.ts'
import { isAlive } from '../support/processes.ts'
import { cutProxy } from './cut-proxy.ts'
import { type Ledger, ledgerHere, worker } from './ledger.ts'
import { caller, routed } from './routed.ts'

/** How many faults there are, and when the next one is due. */
export interface ChaosOptions {
  /** Programs that are killed, in turn. */
  readonly kills: number
  /** Times that all connections to a server are cut. */
  readonly cuts: number
  /** Reloads of the configuration. */
  readonly reloads: number
  /** Concurrent calls to each server. */
  readonly atOnce: number
  /** Waits until the next fault of a kind is due; `made` counts all calls so far. */
  pace(made: () => number): Promise<void>
}

/** The calls of one server, by outcome. */
export interface Account {
  readonly calls: number
  readonly ok: number
  readonly refused: number
  readonly unknown: number
  /** Differences between what callers saw and what was executed. */
  readonly wrong: readonly string[]
}

/** The accounts of the server whose programs are killed, of the one that is cut off, and of one left alone. */
export interface ChaosReport {
  readonly killed: Account
  readonly cut: Account
  readonly calm: Account
  /** The longest time without an answer of the killed server, in milliseconds. */
  readonly longestGapMs: number
}

/**
 * Kills programs, cuts connections and reloads the configuration of a router, all at the same time and under
 * steady load, and accounts for every call.
 */
export async function chaos(options: ChaosOptions): Promise<ChaosReport> {
  const ledgers = { killed: ledgerHere('k'), cut: ledgerHere('c'), calm: ledgerHere('q') }
  const wire = await cuttable(ledgers.cut)
  const servers = {
    killed: worker({ ledger: ledgers.killed.file }, { instances: 3 }),
    cut: { url: wire.address },
    calm: worker({ ledger: ledgers.calm.file }),
  }
  const router = await routed(servers)
  let made = 0
  let isOver = false
  let answeredAt = performance.now()
  let longestGapMs = 0
  const call = async (client: Client, server: keyof typeof ledgers): Promise<void> => {
    while (!isOver) {
      const { outcome } = await ledgers[server].call(client, `${server}__work`)
      made++
      if (server !== 'killed' || outcome !== 'ok') continue
      const now = performance.now()
      longestGapMs = Math.max(longestGapMs, now - answeredAt)
      answeredAt = now
    }
  }
  const clients = [
    await caller(router, { era: 'session' }),
    await caller(router, { era: 'stateless' }),
  ]
  const load = clients.flatMap(client =>
    Array.from({ length: options.atOnce }, () =>
      Object.keys(ledgers).map(server => call(client, server as keyof typeof ledgers)),
    ).flat(),
  )
  const repeat = async (times: number, fault: (turn: number) => unknown): Promise<void> => {
    for (let turn = 0; turn < times; turn++) {
      await options.pace(() => made)
      await fault(turn)
    }
  }
  /** Returns a process of each instance in turn. Throws with the state of an instance that has none. */
  const pidOf = (turn: number): number => {
    const instance = router.server('killed')?.instances[turn % 3]
    const pid = instance?.pids.find(isAlive)
    if (pid === undefined) throw new Error(`no process to kill: ${JSON.stringify(instance)}`)
    return pid
  }
  try {
    await Promise.all([
      repeat(options.kills, async turn => {
        process.kill(await vi.waitFor(() => pidOf(turn), pollOptions), 'SIGKILL')
      }),
      repeat(options.cuts, () => wire.cut()),
      repeat(options.reloads, turn => router.update({ ...servers, ...changed(turn) })),
    ])
  } finally {
    isOver = true
    await Promise.all(load)
  }
  return {
    killed: accountOf(ledgers.killed),
    cut: accountOf(ledgers.cut),
    calm: accountOf(ledgers.calm),
    longestGapMs: Math.round(longestGapMs),
  }
}

/** Every reload adds or removes a server, or changes the limits of one. */
function changed(turn: number): Record<string, UpstreamOptions> {
  return turn % 2 === 0 ? { extra: worker({}, { limits: { concurrent: 1 + turn } }) } : {}
}

/** A server that is reached through a proxy whose connections can be cut. */
async function cuttable(ledger: Ledger) {
  const server = new Server({ name: 'cut', version: '1' })
  const input = { type: 'object', properties: { nonce: { type: 'string' } } } as const
  server.tool('work', { input }, given => {
    const nonce = String((given as { nonce?: string }).nonce)
    appendFileSync(ledger.file, `${nonce} 0\n`)
    return nonce
  })
  const listener = await listen(server, 'tcp://127.0.0.1:0')
  const { port } = new URL(listener.address)
  const proxy = await cutProxy(Number(port))
  onTestFinished(() => listener.close())
  return { address: `tcp://127.0.0.1:${proxy.port}`, cut: proxy.cut }
}

function accountOf(ledger: Ledger): Account {
  return {
    calls: ledger.asked.length,
    ok: ledger.count('ok'),
    refused: ledger.count('not-done'),
    unknown: ledger.count('unknown'),
    wrong: ledger.reconcile(),
  }
}
