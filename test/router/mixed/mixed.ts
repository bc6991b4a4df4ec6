import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { connect } from '../../../src/connect.ts'
import type { ConnectOptions } from '../../../src/connect-options.ts'
import type { UpstreamOptions } from '../../../src/router/options.ts'
import { limits } from '../../../src/util/limits/limits.ts'
import { descendants } from '../../support/processes.ts'
import { type Up, up } from '../up.ts'
import { MixedLedger, metricsOf } from './ledger.ts'
import { type MixedCaller, operations } from './operations.ts'

/** How long the load lasts, and when the router is looked at. */
export interface MixedOptions {
  /** Returns whether the load is over; `made` operations have been completed. */
  isOver(made: number): boolean
  /** Returns whether to look at the router now. */
  isTimeToLook(made: number): boolean
}

/** What the router used at one moment. */
export interface Sample {
  readonly operations: number
  readonly rssMb: number
  readonly heapMb: number
  readonly handles: number
  readonly children: number
  readonly sessions: number
}

/** What became of the load. */
export interface MixedReport {
  readonly samples: readonly Sample[]
  /** Completed operations, by name. */
  readonly done: Readonly<Record<string, number>>
  /** Operations that were refused, or answered wrongly, one line each. */
  readonly failures: readonly string[]
  /** Counters of the router that differ from the ledger, one line each. */
  readonly differences: readonly string[]
}

/** Runs a mixed load on `trunkline up` with three published servers and one of ours. */
export async function mixed(options: MixedOptions): Promise<MixedReport> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-mixed-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'note.txt'), 'a file')
  const router = await up({ metrics: true, servers: serversOf(folder) })
  const callers = await callersOf(router, folder)
  const ledger = new MixedLedger()
  const began = performance.now()
  const failures: string[] = []
  const samples = [await sampleOf(router, 0)]
  const abandoned: Promise<unknown>[] = []
  let made = 0
  const names = Object.keys(operations)
  const loops = callers.map(async (caller, index) => {
    // Each caller begins with another operation, so that all of them run beside each other.
    for (let turn = index; !options.isOver(made); turn++) {
      const name = names[turn % names.length] ?? 'echo'
      const problem = await operations[name]?.(caller, `${index}-${turn}`).catch(String)
      if (problem === undefined) ledger.add(name, caller.era)
      else failures.push(`${name}: ${problem}`)
      made++
      if (turn % 100 === 0) abandoned.push(abandonSession(router.address))
      if (options.isTimeToLook(made)) samples.push(await sampleOf(router, made))
    }
  })
  await Promise.all(loops)
  await Promise.all(abandoned)
  await Promise.all(callers.map(({ client }) => client.close()))
  if (performance.now() - began < limits.sessionIdleMs.default) ledger.sessions = abandoned.length
  const differences = await ledger.compare(router)
  samples.push(await sampleOf(router, made))
  return { samples, done: ledger.done, failures, differences }
}

function serversOf(folder: string): Readonly<Record<string, UpstreamOptions>> {
  const run = (file: string, ...args: string[]): UpstreamOptions => ({
    command: process.execPath,
    args: [file, ...args],
  })
  const published = (module: string): string => fileURLToPath(import.meta.resolve(module))
  return {
    every: run(published('@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'),
    memory: {
      ...run(published('@modelcontextprotocol/server-memory/dist/index.js')),
      env: { MEMORY_FILE_PATH: join(folder, 'memory.json') },
    },
    fs: run(published('@modelcontextprotocol/server-filesystem/dist/index.js'), folder),
    own: run(fileURLToPath(new URL('server.js', import.meta.url))),
  }
}

/** Requests whose responses can be cut off. */
function cuttableFetch() {
  let stop = new AbortController()
  return {
    http: {
      fetch: (url: URL, init: RequestInit): Promise<Response> => {
        const { signal } = stop
        const signals = init.signal ? [init.signal, signal] : [signal]
        return fetch(url, { ...init, signal: AbortSignal.any(signals) })
      },
    },
    cut: () => {
      stop.abort(new Error('the connection was cut'))
      stop = new AbortController()
    },
  }
}

/** Callers of both eras, over HTTP, over HTTP whose responses can be cut off, and over WebSockets. */
async function callersOf({ address }: Up, folder: string): Promise<readonly MixedCaller[]> {
  const cuttable = cuttableFetch()
  const socket = address.replace('http:', 'ws:')
  const places = [
    { address, era: 'session' },
    { address, era: 'stateless' },
    { address, era: 'session', ...cuttable },
    { address: socket, era: 'session' },
    { address: socket, era: 'stateless' },
  ] as const
  return Promise.all(
    places.map(async place => {
      const options: ConnectOptions = {
        ...('http' in place && { http: place.http }),
        era: place.era,
        elicit: () => ({ action: 'accept', content: { city: 'Bern' } }),
      }
      const client = await connect(place.address, options)
      const waiting = new Set<() => void>()
      const changes = client.changes({ resources: ['own://note'] })
      await changes.ready
      void (async () => {
        for await (const _ of changes) for (const wake of waiting) wake()
      })().catch(() => {})
      const nextChange = (): Promise<void> =>
        new Promise(resolve => {
          const wake = (): void => {
            waiting.delete(wake)
            resolve()
          }
          waiting.add(wake)
        })
      return { ...place, client, folder, nextChange }
    }),
  )
}

/** Opens a session that nobody uses or ends. */
async function abandonSession(address: string): Promise<void> {
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'gone', version: '1' },
  }
  const post = async (message: object, headers: Record<string, string> = {}): Promise<Response> => {
    const response = await fetch(address, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    })
    await response.text()
    return response
  }
  const opened = await post({ id: 1, method: 'initialize', params })
  const session = opened.headers.get('mcp-session-id') ?? ''
  await post({ method: 'notifications/initialized' }, { 'mcp-session-id': session })
}

async function sampleOf(router: Up, made: number): Promise<Sample> {
  const metrics = await metricsOf(router)
  const mb = (name: string): number => Math.round((metrics.get(name) ?? 0) / 1e6)
  return {
    operations: made,
    rssMb: mb('process_resident_memory_bytes'),
    heapMb: mb('nodejs_heap_size_used_bytes'),
    handles: readdirSync(`/proc/${router.pid}/fd`).length,
    children: descendants(router.pid).length,
    sessions: metrics.get('trunkline_sessions') ?? 0,
  }
}
