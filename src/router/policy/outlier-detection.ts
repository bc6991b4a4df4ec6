import { limits } from '../../util/limits/limits.ts'

/** What is looked at of an instance, and how it is told that it is out. */
export interface Judged {
  readonly key: string
  /** How many recent calls its figures rest on. */
  readonly recent: number
  /** The share of its calls that failed lately, from 0 to 1. */
  readonly errorRate: number
  readonly latencyMs: number
  /** It will get calls again so many milliseconds from now; its figures begin anew. */
  recovered(inMs: number): void
}

/** Recent calls below which an instance is not judged, nor others by it. */
const minCalls = limits.outlierCalls.default
/** How long an instance is out, at first and at most. */
const ejectMs = limits.outlierMs.default
const maxEjectMs = limits.outlierMaxMs.default
/** How much more often than usual an instance must fail. */
const failsMore = 0.3
/** How many times as long as usual its calls must take, and how much longer at least. */
const timesSlower = 3
const slowerMs = 20

/**
 * Puts out, for a time, instances that do worse than the others of the same server.
 *
 * The rule: an instance is compared with the median of the others that had at least `minCalls` recent
 * calls, at least one of them. It is out if its error rate is higher by 0.3, or if its latency is
 * three times as high and higher by 20 ms. The worst goes first, and never is more than half of all
 * out at one time: where everything fails nothing stands out. Each time it is out twice as long as
 * before, from `ejectMs` to `maxEjectMs`; after it was in for `maxEjectMs` that begins anew.
 */
export class Outliers {
  readonly #now: () => number
  readonly #ejections = new Map<string, Ejection>()

  /** Takes the time, in milliseconds that never go back. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Whether an instance gets no calls now. */
  isEjected(key: string): boolean {
    const ejection = this.#ejections.get(key)
    return ejection !== undefined && this.#now() < ejection.until
  }

  /** Why an instance is out, in one line; undefined for one that is not. */
  why(key: string): string | undefined {
    return this.isEjected(key) ? this.#ejections.get(key)?.why : undefined
  }

  /** Looks at all instances of the server and puts out who is to go. To be called now and then. */
  judge(instances: readonly Judged[]): void {
    this.#forgetOld(new Set(instances.map(({ key }) => key)))
    const isIn = instances.filter(({ key }) => !this.isEjected(key))
    let room = Math.floor(instances.length / 2) - (instances.length - isIn.length)
    if (room < 0) this.#readmit(-room)
    const judged = isIn.filter(({ recent }) => recent >= minCalls)
    if (room <= 0 || judged.length < 2) return
    const rates = sorted(judged.map(({ errorRate }) => errorRate))
    const latencies = sorted(judged.map(({ latencyMs }) => latencyMs))
    const found = judged.flatMap(one => complaint(one, rates, latencies) ?? [])
    found.sort((a, b) => b.badness - a.badness)
    for (const { instance, why } of found) {
      if (room-- <= 0) return
      this.#eject(instance, why)
    }
  }

  #eject(instance: Judged, why: string): void {
    const times = this.#ejections.get(instance.key)?.times ?? 0
    const forMs = Math.min(maxEjectMs, ejectMs * 2 ** times)
    const until = this.#now() + forMs
    this.#ejections.set(instance.key, { until, times: times + 1, why })
    instance.recovered(forMs)
  }

  /** Lets in those that would be back first: others of the server have left, and too few are in. */
  #readmit(count: number): void {
    const now = this.#now()
    const out = [...this.#ejections].filter(([, { until }]) => until > now)
    out.sort(([, a], [, b]) => a.until - b.until)
    for (const [key, ejection] of out.slice(0, count)) {
      this.#ejections.set(key, { ...ejection, until: now })
    }
  }

  #forgetOld(present: ReadonlySet<string>): void {
    const now = this.#now()
    for (const [key, { until }] of this.#ejections) {
      if (!present.has(key) || now - until >= maxEjectMs) this.#ejections.delete(key)
    }
  }
}

interface Ejection {
  readonly until: number
  readonly times: number
  readonly why: string
}

interface Complaint {
  readonly instance: Judged
  /** By how many times it is over the line. */
  readonly badness: number
  readonly why: string
}

function complaint(
  instance: Judged,
  rates: readonly number[],
  latencies: readonly number[],
): Complaint | undefined {
  const { errorRate, latencyMs } = instance
  const usualRate = medianOfOthers(rates, errorRate)
  if (errorRate - usualRate >= failsMore) {
    const why = `${percent(errorRate)} of its calls fail, elsewhere ${percent(usualRate)}`
    // Failing is worse than being slow, however slow.
    return { instance, badness: 1e6 + errorRate - usualRate, why }
  }
  const usualMs = medianOfOthers(latencies, latencyMs)
  if (latencyMs >= timesSlower * usualMs && latencyMs - usualMs >= slowerMs) {
    const why = `its calls take ${Math.round(latencyMs)} ms, elsewhere ${Math.round(usualMs)} ms`
    return { instance, badness: latencyMs / Math.max(1, usualMs), why }
  }
  return undefined
}

function sorted(values: number[]): number[] {
  return values.sort((a, b) => a - b)
}

/** The median of sorted values without one that is among them. The lower of two in the middle. */
function medianOfOthers(values: readonly number[], own: number): number {
  const middle = Math.floor((values.length - 2) / 2)
  return values[middle < values.indexOf(own) ? middle : middle + 1] ?? own
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}
