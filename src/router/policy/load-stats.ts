import { checked } from '../../util/in-range.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Candidate } from './balance.ts'

/** What is known of one instance: how much it has to do, how quick it is, how often it fails. */
export interface LoadOptions {
  /** What tells the instance from the others of its server. */
  readonly key: string
  /** How many calls it gets, beside others; 1 unless said. */
  readonly weight?: number
  /** Milliseconds that never go back. */
  readonly now: () => number
  readonly halfLifeMs?: number
  readonly slowStartMs?: number
}

/** How many calls an instance has had since it was made, by how they ended. */
export interface LoadCounts {
  readonly begun: number
  readonly succeeded: number
  readonly failed: number
  readonly abandoned: number
}

/**
 * Keeps the figures by which calls are spread over instances. Every call is told by `begin` and then,
 * exactly once, by `succeeded`, `failed` or `abandoned`.
 *
 * Latency and error rate are means over recent calls, in which a call weighs half as much after each
 * `halfLifeMs`. An instance of which nothing was heard for long is one of which nothing is known:
 * otherwise one that failed once, and therefore gets no calls, would never get any again. Throws a
 * RangeError for a weight out of range.
 */
export class Load implements Candidate {
  readonly key: string
  readonly #weight: number
  readonly #now: () => number
  readonly #halfLifeMs: number
  readonly #slowStartMs: number
  #inFlight = 0
  // Sums in which every call counts as much as its age leaves of it; all three shrink alike.
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

  constructor(options: LoadOptions) {
    this.key = options.key
    this.#weight = checked('weight', options.weight ?? 1, { least: 0, most: 1_000_000 })
    this.#now = options.now
    this.#halfLifeMs = options.halfLifeMs ?? limits.loadHalfLifeMs.default
    this.#slowStartMs = options.slowStartMs ?? limits.slowStartMs.default
    this.#at = options.now()
  }

  /** Calls that have begun and not ended. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** The weight it has now: a part of its own while it is starting slowly. */
  get weight(): number {
    // Mostly it has all of it, and then the time need not be asked for.
    if (this.#rampFrom === undefined) return this.#weight
    const since = this.#now() - this.#rampFrom
    if (since >= this.#slowStartMs) {
      this.#rampFrom = undefined
      return this.#weight
    }
    return this.#weight * (0.1 + (0.9 * Math.max(0, since)) / this.#slowStartMs)
  }

  /** How many recent calls the figures rest on; each counts less as it gets older. */
  get recent(): number {
    return this.#recent * this.#left()
  }

  /** Milliseconds that a call took lately; 0 where that is not known. */
  get latencyMs(): number {
    if (this.#recentTimed === 0) return 0
    return this.#recentTimed * this.#left() < 0.05 ? 0 : this.#recentMs / this.#recentTimed
  }

  /** The share of calls that failed lately, from 0 to 1. */
  get errorRate(): number {
    if (this.#recentFailed === 0) return 0
    const left = this.#left()
    // One call too many below the line: a rate of few calls, or of old ones, is taken for less.
    return (this.#recentFailed * left) / (this.#recent * left + 1)
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

  /** A call ended well, so many milliseconds after it began; `now`, where that is known already. */
  succeeded(tookMs: number, now = this.#now()): void {
    this.#inFlight--
    this.#succeeded++
    this.#age(now)
    this.#recent++
    this.#time(tookMs)
  }

  /** A call failed, so many milliseconds after it began. */
  failed(tookMs = 0): void {
    this.#inFlight--
    this.#failed++
    this.#age(this.#now())
    this.#recent++
    this.#recentFailed++
    // An instance that refuses at once is not a quick one; one that runs into timeouts is slow.
    if (tookMs > this.latencyMs) this.#time(tookMs)
  }

  /** A call ended without saying anything about the instance. */
  abandoned(): void {
    this.#inFlight--
    this.#abandoned++
  }

  /**
   * The instance is back, or will be so many milliseconds from now: what was known of it is forgotten,
   * and its weight grows from a tenth to all of it in `slowStartMs`.
   */
  recovered(inMs = 0): void {
    this.#rampFrom = this.#now() + inMs
    this.#recent = 0
    this.#recentFailed = 0
    this.#recentTimed = 0
    this.#recentMs = 0
  }

  /** How much is left by now of what the sums were when they were last changed. */
  #left(): number {
    return 2 ** ((this.#at - this.#now()) / this.#halfLifeMs)
  }

  #age(now: number): void {
    // Within a millisecond nothing gets older that anybody could tell.
    if (now - this.#at < 1) return
    const left = 2 ** ((this.#at - now) / this.#halfLifeMs)
    this.#recent *= left
    this.#recentFailed *= left
    this.#recentTimed *= left
    this.#recentMs *= left
    this.#at = now
  }

  #time(tookMs: number): void {
    this.#recentTimed++
    this.#recentMs += tookMs
  }
}
