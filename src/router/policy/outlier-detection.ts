import { limits } from '../../util/limits/limits.ts'

/** One life of an instance, from one start to the next. */
export interface InstanceLife {
  readonly key: string
  /** How often the instance was restarted before. */
  readonly restarts: number
}

/** What outlier detection needs to know of an instance. */
export interface ObservedInstance extends InstanceLife {
  /** The number of recent calls that its statistics are based on. */
  readonly recent: number
  /** The share of its recent calls that failed, from 0 to 1. */
  readonly errorRate: number
  readonly latencyMs: number
  /** Resets its statistics: it gets calls again after `inMs`. */
  recovered(inMs: number): void
}

/** Instances with fewer recent calls are neither checked nor compared with. */
const minCalls = limits.outlierCalls.default
/** How long an instance is ejected, at first and at most. */
const ejectMs = limits.outlierEjectionMs.default
const maxEjectMs = limits.outlierMaxEjectionMs.default
/** By how much its error rate must exceed the median. */
const failsMore = 0.3
/** By which factor, and by how much at least, its latency must exceed the median. */
const timesSlower = 3
const slowerMs = 20

/**
 * Ejects instances for a time that perform worse than the others of the same server.
 *
 * An instance is compared with the median of the others that have at least `minCalls` recent calls, of
 * which there must be one. It is ejected if its error rate is higher by 0.3, or if its latency is three
 * times as high and higher by 20 ms. The worst is ejected first, and at most half of all instances are at
 * the same time: where everything fails, there is no outlier. Each ejection lasts twice as long as the one
 * before, from `ejectMs` to `maxEjectMs`; after `maxEjectMs` without one that starts over. A restart ends an
 * ejection: what was slow or failed is gone.
 */
export class OutlierDetection {
  readonly #now: () => number
  readonly #ejections = new Map<string, Ejection>()

  /** `now` is monotonic time in milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Returns whether an instance is ejected now. */
  isEjected({ key, restarts }: InstanceLife): boolean {
    const ejection = this.#ejections.get(key)
    if (ejection === undefined || ejection.restarts !== restarts) return false
    return this.#now() < ejection.until
  }

  /** Returns why an instance is ejected, in one line; undefined if it is not. */
  why(instance: InstanceLife): string | undefined {
    return this.isEjected(instance) ? this.#ejections.get(instance.key)?.why : undefined
  }

  /** Checks all instances of the server and ejects outliers. Must be called from time to time. */
  check(instances: readonly ObservedInstance[]): void {
    this.#forgetOld(new Map(instances.map(({ key, restarts }) => [key, restarts])))
    const active = instances.filter(instance => !this.isEjected(instance))
    let room = Math.floor(instances.length / 2) - (instances.length - active.length)
    if (room < 0) this.#readmit(-room)
    const compared = active.filter(({ recent }) => recent >= minCalls)
    if (room <= 0 || compared.length < 2) return
    const rates = sorted(compared.map(({ errorRate }) => errorRate))
    const latencies = sorted(compared.map(({ latencyMs }) => latencyMs))
    const outliers = compared.flatMap(one => outlierOf(one, rates, latencies) ?? [])
    outliers.sort((a, b) => b.severity - a.severity)
    for (const { instance, why } of outliers) {
      if (room-- <= 0) return
      this.#eject(instance, why)
    }
  }

  #eject(instance: ObservedInstance, why: string): void {
    const { key, restarts } = instance
    const times = this.#ejections.get(key)?.times ?? 0
    const forMs = Math.min(maxEjectMs, ejectMs * 2 ** times)
    const until = this.#now() + forMs
    this.#ejections.set(key, { until, times: times + 1, why, restarts })
    instance.recovered(forMs)
  }

  /** Ends the ejections that would end first: other instances have left, and too many are ejected. */
  #readmit(count: number): void {
    const now = this.#now()
    const ejected = [...this.#ejections].filter(([, { until }]) => until > now)
    ejected.sort(([, a], [, b]) => a.until - b.until)
    for (const [key, ejection] of ejected.slice(0, count)) {
      this.#ejections.set(key, { ...ejection, until: now })
    }
  }

  /** `present` are the restarts of each instance, by key. */
  #forgetOld(present: ReadonlyMap<string, number>): void {
    const now = this.#now()
    for (const [key, { until, restarts }] of this.#ejections) {
      const isGone = present.get(key) !== restarts
      if (isGone || now - until >= maxEjectMs) this.#ejections.delete(key)
    }
  }
}

interface Ejection {
  readonly until: number
  readonly times: number
  readonly why: string
  /** The restarts of the instance when it was ejected. */
  readonly restarts: number
}

interface Outlier {
  readonly instance: ObservedInstance
  /** By how much it exceeds the limit. */
  readonly severity: number
  readonly why: string
}

function outlierOf(
  instance: ObservedInstance,
  rates: readonly number[],
  latencies: readonly number[],
): Outlier | undefined {
  const { errorRate, latencyMs } = instance
  const medianRate = medianOfOthers(rates, errorRate)
  if (errorRate - medianRate >= failsMore) {
    const why = `${percent(errorRate)} of its calls fail (median of the others: ${percent(medianRate)})`
    // Failures are worse than any latency.
    return { instance, severity: 1e6 + errorRate - medianRate, why }
  }
  const medianMs = medianOfOthers(latencies, latencyMs)
  if (latencyMs >= timesSlower * medianMs && latencyMs - medianMs >= slowerMs) {
    const why = `its calls take ${Math.round(latencyMs)} ms (median of the others: ${Math.round(medianMs)} ms)`
    return { instance, severity: latencyMs / Math.max(1, medianMs), why }
  }
  return undefined
}

function sorted(values: number[]): number[] {
  return values.sort((a, b) => a - b)
}

/** Returns the median of sorted values without one that is among them; the lower of two middle values. */
function medianOfOthers(values: readonly number[], own: number): number {
  const middle = Math.floor((values.length - 2) / 2)
  return values[middle < values.indexOf(own) ? middle : middle + 1] ?? own
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}
