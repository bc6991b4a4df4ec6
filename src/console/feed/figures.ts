import type { MetricReading, MetricRegistry } from '../../observe/metrics/registry.ts'
import { limits } from '../../util/limits/limits.ts'
import type { FigurePoint, ServerFigure } from '../wire.ts'
import { quantile } from './quantile.ts'
import { Ring } from './ring.ts'

/** Keeps the figures of the last minutes by the second, and of the last day by the minute. */
export class FigureFeed {
  readonly #seconds = new Ring<FigurePoint>(limits.consoleFigureSeconds.default)
  readonly #minutes = new Ring<FigurePoint>(limits.consoleFigureMinutes.default)
  readonly #bySecond: Sampler
  readonly #byMinute: Sampler
  readonly #timer: NodeJS.Timeout

  constructor(registry: MetricRegistry, now: () => number) {
    this.#bySecond = new Sampler(registry, now)
    this.#byMinute = new Sampler(registry, now)
    this.#timer = setInterval(() => this.sample(), 1000)
    this.#timer.unref()
  }

  get count(): number {
    return this.#seconds.count
  }

  after(count: number): readonly FigurePoint[] {
    return this.#seconds.after(count)
  }

  /** Returns the newest points by the second. */
  newest(count: number): readonly FigurePoint[] {
    return this.#seconds.list().slice(-count)
  }

  /** Returns the points by the minute. */
  minutes(): readonly FigurePoint[] {
    return this.#minutes.list()
  }

  /** Adds the figures since the last call. */
  sample(): void {
    this.#seconds.push(this.#bySecond.sample())
    if (this.#seconds.count % 60 !== 0) return
    this.#minutes.push({ ...this.#byMinute.sample(), servers: {} })
  }

  /** Stops sampling. Idempotent. */
  close(): void {
    clearInterval(this.#timer)
  }
}

/** What the counters of a server say; the counts are since the start. */
interface Totals {
  ok: number
  failed: number
  toolErrors: number
  counts: number[]
}

/** Turns counters into rates: each sample is about the time since the one before. */
class Sampler {
  readonly #registry: MetricRegistry
  readonly #now: () => number
  #at: number
  #before: ReadonlyMap<string, Totals>
  #refused: number
  #loop = performance.eventLoopUtilization()

  constructor(registry: MetricRegistry, now: () => number) {
    this.#registry = registry
    this.#now = now
    this.#at = now()
    this.#before = totalsIn(registry)
    this.#refused = sumOf(registry.read('trunkline_limit_refusals_total'))
  }

  sample(): FigurePoint {
    const at = this.#now()
    const seconds = Math.max(0.001, (at - this.#at) / 1000)
    this.#at = at
    const registry = this.#registry
    const after = totalsIn(registry)
    const sum: Totals = { ok: 0, failed: 0, toolErrors: 0, counts: [] }
    const bounds = boundsIn(registry)
    const servers: [string, ServerFigure][] = []
    for (const [server, totals] of after) {
      const since = difference(totals, this.#before.get(server))
      add(sum, since)
      const calls = since.ok + since.failed + since.toolErrors
      // A server without calls takes no room.
      if (calls === 0 || servers.length >= limits.consoleFigureServers.default) continue
      servers.push([
        server,
        {
          calls: calls / seconds,
          failed: (since.failed + since.toolErrors) / seconds,
          p99: quantile(bounds, since.counts, 0.99),
        },
      ])
    }
    this.#before = after
    const refused = sumOf(registry.read('trunkline_limit_refusals_total'))
    const refusedNow = refused - this.#refused
    this.#refused = refused
    const loop = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(loop, this.#loop)
    this.#loop = loop
    return {
      at,
      ok: sum.ok / seconds,
      failed: sum.failed / seconds,
      toolErrors: sum.toolErrors / seconds,
      refused: refusedNow / seconds,
      p50: quantile(bounds, sum.counts, 0.5),
      p90: quantile(bounds, sum.counts, 0.9),
      p99: quantile(bounds, sum.counts, 0.99),
      inFlight: sumOf(registry.read('trunkline_calls_in_flight')),
      queued: sumOf(registry.read('trunkline_queue_length')),
      sessions: sumOf(registry.read('trunkline_sessions')),
      memory: process.memoryUsage.rss(),
      busy: utilization,
      servers: Object.fromEntries(servers),
    }
  }
}

function totalsIn(registry: MetricRegistry): ReadonlyMap<string, Totals> {
  const all = new Map<string, Totals>()
  const totalsOf = (server: string): Totals => {
    const known = all.get(server)
    if (known !== undefined) return known
    const made = { ok: 0, failed: 0, toolErrors: 0, counts: [] }
    all.set(server, made)
    return made
  }
  for (const { labels, value } of registry.read('trunkline_calls_total')) {
    const [server = '', , outcome] = labels
    const totals = totalsOf(server)
    if (outcome === 'error') totals.failed += value
    else if (outcome === 'tool-error') totals.toolErrors += value
    else totals.ok += value
  }
  for (const { labels, counts = [] } of registry.read('trunkline_call_duration_seconds')) {
    const [server = ''] = labels
    addCounts(totalsOf(server).counts, counts)
  }
  return all
}

function boundsIn(registry: MetricRegistry): readonly number[] {
  return registry.read('trunkline_call_duration_seconds')[0]?.bounds ?? []
}

function difference(now: Totals, before: Totals | undefined): Totals {
  if (before === undefined) return now
  return {
    ok: now.ok - before.ok,
    failed: now.failed - before.failed,
    toolErrors: now.toolErrors - before.toolErrors,
    counts: now.counts.map((count, at) => count - (before.counts[at] ?? 0)),
  }
}

function add(sum: Totals, more: Totals): void {
  sum.ok += more.ok
  sum.failed += more.failed
  sum.toolErrors += more.toolErrors
  addCounts(sum.counts, more.counts)
}

function addCounts(sum: number[], more: readonly number[]): void {
  for (const [at, count] of more.entries()) sum[at] = (sum[at] ?? 0) + count
}

function sumOf(readings: readonly MetricReading[]): number {
  return readings.reduce((sum, { value }) => sum + value, 0)
}
