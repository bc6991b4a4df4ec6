import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { RpcError } from '../../src/jsonrpc/error.ts'
import type { UpstreamOptions } from '../../src/router/options.ts'

/** How a call ended: with its result, certainly not executed, or unknown. */
export type Outcome = 'ok' | 'not-done' | 'unknown'

/** One call, as its caller saw it. */
export interface Entry {
  readonly nonce: string
  readonly outcome: Outcome
  /** The value in the response; the nonce, if everything is right. */
  readonly said?: string
  /** Whether the call may be executed more than once. */
  readonly isRepeatable?: boolean
}

/**
 * The differences between what callers saw and what was executed, one sentence each. Every call has one
 * outcome; a successful one was executed, once unless it is repeatable; a refused one never was; and
 * nothing was executed that was not requested.
 */
export function reconcile(
  asked: readonly string[],
  entries: readonly Entry[],
  executed: readonly string[],
): readonly string[] {
  const wrong: string[] = []
  const runs = counted(executed)
  const ends = counted(entries.map(({ nonce }) => nonce))
  for (const nonce of asked) {
    if (ends.get(nonce) !== 1) wrong.push(`${nonce} ended ${ends.get(nonce) ?? 0} times`)
  }
  for (const { nonce, outcome, said, isRepeatable = false } of entries) {
    const ran = runs.get(nonce) ?? 0
    if (outcome === 'ok' && said !== nonce) wrong.push(`${nonce} was answered with ${said}`)
    if (outcome === 'ok' && ran === 0) wrong.push(`${nonce} was answered and never carried out`)
    if (outcome === 'not-done' && ran > 0) wrong.push(`${nonce} was refused and carried out`)
    if (ran > 1 && !isRepeatable) wrong.push(`${nonce} was carried out ${ran} times`)
  }
  const known = new Set(asked)
  for (const nonce of runs.keys()) {
    if (!known.has(nonce)) wrong.push(`${nonce} was carried out and never asked for`)
  }
  return wrong
}

function counted(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

/** What upstream programs executed, in a file that outlives them, and what callers saw. */
export class Ledger {
  readonly folder = mkdtempSync(join(tmpdir(), 'trunkline-ledger-'))
  readonly file = join(this.folder, 'ledger')
  readonly entries: Entry[] = []
  readonly asked: string[] = []
  readonly #name: string
  #last = 0

  constructor(name = 'n') {
    this.#name = name
    writeFileSync(this.file, '')
  }

  /** The nonce of every execution, repeated as often as it was executed. */
  executed(): readonly string[] {
    const lines = readFileSync(this.file, 'utf8').split('\n').slice(0, -1)
    return lines.map(line => line.slice(0, line.indexOf(' ')))
  }

  count(outcome: Outcome): number {
    return this.entries.filter(entry => entry.outcome === outcome).length
  }

  /** Makes a call and records its outcome. Rejects for an error without an outcome. */
  async call(client: Client, tool: string, isRepeatable = false): Promise<Entry> {
    const nonce = `${this.#name}-${++this.#last}`
    this.asked.push(nonce)
    const entry = { nonce, isRepeatable, ...(await outcomeOf(client, tool, nonce)) }
    this.entries.push(entry)
    return entry
  }

  reconcile(): readonly string[] {
    return reconcile(this.asked, this.entries, this.executed())
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

async function outcomeOf(
  client: Client,
  tool: string,
  nonce: string,
): Promise<Pick<Entry, 'outcome' | 'said'>> {
  try {
    const { text } = await client.call(tool, { nonce })
    return { outcome: 'ok', said: text }
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    const { outcome, server } = (error.data ?? {}) as { outcome?: string; server?: string }
    if (outcome === 'unknown') return { outcome }
    if (error.kind === 'custom_server_error' && server !== undefined) return { outcome: 'not-done' }
    throw error
  }
}

/** A ledger for as long as the test lasts. */
export function ledgerHere(name?: string): Ledger {
  const ledger = new Ledger(name)
  onTestFinished(() => ledger.remove())
  return ledger
}

const program = fileURLToPath(new URL('worker.js', import.meta.url))

/** The options of the program `worker.js`. */
export interface WorkerOptions {
  readonly ledger?: string
  readonly role?: string
  readonly grandchild?: boolean
}

/** Restarts are counted over a time in which any machine starts a program often enough. */
const restart = { windowMs: 3_600_000 }

/** The program `worker.js` as an upstream server. */
export function worker(given: WorkerOptions = {}, more: UpstreamOptions = {}): UpstreamOptions {
  return { command: process.execPath, args: [program, JSON.stringify(given)], restart, ...more }
}
