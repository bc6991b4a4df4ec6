import { limits } from '../../util/limits/limits.ts'
import { checkRange } from '../../util/range.ts'
import type { Candidate } from './balance.ts'

export interface LoadStatsOptions {
  /** Identifies the instance among those of its server. */
  readonly key: string
  /** Its share of calls relative to the others. Default: 1. */
  readonly weight?: number
  /** Monotonic time in milliseconds. */
  readonly now: () => number
  readonly halfLifeMs?: number
  readonly slowStartMs?: number
}

/** The number of calls to an instance since it was created, by outcome. */
export interface LoadCounts {
  readonly begun: number
  readonly succeeded: number
  readonly failed: number
  readonly abandoned: number
}

/**
 * The statistics of one instance that load balancing depends on. Every call is reported by `begin` and then,
 * exactly once, by `succeeded`, `failed` or `abandoned`.
 *
 * Latency and error rate are means over recent calls, in which a call weighs half as much after each
 * `halfLifeMs`. After a long time without calls they are unknown again: otherwise an instance that failed
 * once, and therefore gets no calls, would never get any again. The constructor throws a RangeError for a
 * weight out of range.
 */
export class LoadStats implements Candidate {
  readonly key: string
  readonly #weight: number
  readonly #now: () => number
  readonly #halfLifeMs: number
  readonly #slowStartMs: number
  #inFlight = 0
  // Sums in which every call is weighted by its age; all of them decay alike.
  #recent = 0
  #recentFailed = 0
  #recentTimed = 0
  #recentMs = 0
  #at: number
  #rampFrom: number | undefined
  #begun = 0
  #succeeded = 0
  #failed = 0
  #abandoned = 0

  constructor(options: LoadStatsOptions) {
    this.key = options.key
    this.#weight = checkRange('weight', options.weight ?? 1, { min: 0, max: 1_000_000 })
    this.#now = options.now
    this.#halfLifeMs = options.halfLifeMs ?? limits.loadHalfLifeMs.default
    this.#slowStartMs = options.slowStartMs ?? limits.slowStartMs.default
    this.#at = options.now()
  }

  /** Calls in flight. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** The current weight: a part of its own during slow start. */
  get weight(): number {
    // Slow start is rare, so the clock is usually not needed.
    if (this.#rampFrom === undefined) return this.#weight
    const since = this.#now() - this.#rampFrom
    if (since >= this.#slowStartMs) {
      this.#rampFrom = undefined
      return this.#weight
    }
    return this.#weight * (0.1 + (0.9 * Math.max(0, since)) / this.#slowStartMs)
  }

  /** The number of recent calls that the statistics are based on, weighted by age. */
  get recent(): number {
    return this.#recent * this.#decay()
  }

  /** The mean duration of recent calls; 0 if unknown. */
  get latencyMs(): number {
    if (this.#recentTimed === 0) return 0
    return this.#recentTimed * this.#decay() < 0.05 ? 0 : this.#recentMs / this.#recentTimed
  }

  /** The share of recent calls that failed, from 0 to 1. */
  get errorRate(): number {
    if (this.#recentFailed === 0) return 0
    const decay = this.#decay()
    // One more in the denominator: the rate of few calls, or of old ones, counts for less.
    return (this.#recentFailed * decay) / (this.#recent * decay + 1)
  }

  get counts(): LoadCounts {
    return {
      begun: this.#begun,
      succeeded: this.#succeeded,
      failed: this.#failed,
      abandoned: this.#abandoned,
    }
  }

  begin(): void {
    this.#inFlight++
    this.#begun++
  }

  /** Reports a call that succeeded after `tookMs`. Passing `now` saves reading the clock. */
  succeeded(tookMs: number, now = this.#now()): void {
    this.#inFlight--
    this.#succeeded++
    this.#applyDecay(now)
    this.#recent++
    this.#addDuration(tookMs)
  }

  /** Reports a call that failed after `tookMs`. */
  failed(tookMs = 0): void {
    this.#inFlight--
    this.#failed++
    this.#applyDecay(this.#now())
    this.#recent++
    this.#recentFailed++
    // An instance that refuses at once is not fast; one that runs into timeouts is slow.
    if (tookMs > this.latencyMs) this.#addDuration(tookMs)
  }

  /** Reports a call that ended without an outcome. */
  abandoned(): void {
    this.#inFlight--
    this.#abandoned++
  }

  /**
   * Resets the statistics, because the instance has recovered or will have after `inMs`, and starts slow
   * start: its weight grows from a tenth to all of it within `slowStartMs`.
   */
  recovered(inMs = 0): void {
    this.#rampFrom = this.#now() + inMs
    this.#recent = 0
    this.#recentFailed = 0
    this.#recentTimed = 0
    this.#recentMs = 0
  }

  /** The decay since the sums were last changed. */
  #decay(): number {
    return 2 ** ((this.#at - this.#now()) / this.#halfLifeMs)
  }

  #applyDecay(now: number): void {
    // Within a millisecond the decay is negligible.
    if (now - this.#at < 1) return
    const decay = 2 ** ((this.#at - now) / this.#halfLifeMs)
    this.#recent *= decay
    this.#recentFailed *= decay
    this.#recentTimed *= decay
    this.#recentMs *= decay
    this.#at = now
  }

  #addDuration(tookMs: number): void {
    this.#recentTimed++
    this.#recentMs += tookMs
  }
}
