import { limits } from '../../util/limits/limits.ts'
import { checkRange } from '../../util/range.ts'
import { backoffMs } from '../../util/time/backoff.ts'
import { SlidingWindow } from '../../util/time/sliding-window.ts'
import type { RestartOptions } from '../options.ts'

export interface RestartHost {
  /** Monotonic time in milliseconds. */
  readonly now: () => number
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number
}

/** The circumstances of an exit. */
export interface ExitFacts {
  /** It answered a call after its last start. */
  readonly hasAnswered?: boolean
  /** It got no call after its last start, so it had none to answer. */
  readonly isUnused?: boolean
  /** No other instance takes calls. */
  readonly isAlone?: boolean
  /** It could not be started for lack of resources of this machine, which says nothing about it. */
  readonly isShortage?: boolean
}

/**
 * Decides when to restart an instance that exited. One that answered a call works, and so does one that got
 * none and was up for `restartUnusedMs`: it is restarted at once, at most every `minMs`. Delays and quarantine
 * are for an instance that fails to start, or exits before its first answer. After `maxRestarts` of those
 * within `windowMs` it is quarantined until `release()`.
 *
 * The delay before a restart is random, between 0 and a limit, so that many instances that exited together
 * do not restart together; the limit doubles from `minMs` to `maxMs`, or to `restartAloneMs` while no other
 * instance takes calls. `maxRestarts` may be `Infinity`, for an instance that is worth retrying forever.
 */
export class RestartBudget {
  readonly #options: Required<RestartOptions>
  readonly #host: RestartHost
  /** The latest restarts; undefined where there is no maximum. */
  readonly #recent: SlidingWindow | undefined
  #attempts = 0
  #upSince: number | undefined
  #isQuarantined = false

  /** Throws a RangeError for options out of range. */
  constructor(options: RestartOptions, host: RestartHost) {
    this.#options = settings(options)
    this.#host = host
    const { maxRestarts, windowMs } = this.#options
    if (maxRestarts !== Number.POSITIVE_INFINITY) {
      this.#recent = new SlidingWindow(maxRestarts, windowMs)
    }
  }

  get isQuarantined(): boolean {
    return this.#isQuarantined
  }

  /** Why it is quarantined, in one line; empty while it is not. */
  get reason(): string {
    if (!this.#isQuarantined) return ''
    const { maxRestarts, windowMs } = this.#options
    if (maxRestarts === 0) return 'stopped, and restarts are disabled'
    const times = maxRestarts === 1 ? 'once' : `${maxRestarts} times`
    return `restarted ${times} within ${windowMs / 1000} s and stopped each time`
  }

  /** Must be called when it exited or could not be started. Returns the delay of the restart, or quarantines it. */
  next(exit: ExitFacts = {}): { readonly delayMs: number } | 'quarantine' {
    if (this.#isQuarantined) return 'quarantine'
    const now = this.#host.now()
    const wasUpMs = this.#upSince === undefined ? 0 : now - this.#upSince
    this.#upSince = undefined
    const { maxRestarts, minMs } = this.#options
    const isIdle = exit.isUnused === true && wasUpMs >= limits.restartUnusedMs.default
    if ((exit.hasAnswered || isIdle) && maxRestarts > 0) {
      this.#attempts = 0
      this.#recent?.clear()
      return { delayMs: Math.max(0, Math.floor(minMs - wasUpMs)) }
    }
    if (exit.isShortage && maxRestarts > 0) return { delayMs: limits.restartAloneMs.default }
    if (wasUpMs >= limits.restartStableMs.default) this.#attempts = 0
    if (this.#recent?.add(now) === false) {
      this.#isQuarantined = true
      return 'quarantine'
    }
    return { delayMs: this.#backoffMs(exit.isAlone === true) }
  }

  /**
   * Must be called when it is up. If it stays up for `restartStableMs`, the delays start from the shortest
   * again; one that exits right after each start waits longer each time.
   */
  succeeded(): void {
    this.#upSince = this.#host.now()
  }

  /** Ends the quarantine and resets the counters. */
  release(): void {
    this.#isQuarantined = false
    this.#recent?.clear()
    this.#attempts = 0
    this.#upSince = undefined
  }

  #backoffMs(isAlone: boolean): number {
    const { minMs, maxMs: usualMs } = this.#options
    const maxMs = isAlone ? Math.min(usualMs, limits.restartAloneMs.default) : usualMs
    const { random } = this.#host
    return Math.floor(backoffMs(this.#attempts++, { baseMs: Math.max(1, minMs), maxMs, random }))
  }
}

function settings(options: RestartOptions): Required<RestartOptions> {
  const maxRestarts = options.maxRestarts ?? limits.maxRestarts.default
  const windowMs = options.windowMs ?? limits.restartWindowMs.default
  const minMs = options.minMs ?? limits.restartMinMs.default
  const maxMs = options.maxMs ?? limits.restartMaxMs.default
  // `Infinity` is allowed; otherwise the number of remembered restarts is limited.
  if (maxRestarts !== Number.POSITIVE_INFINITY) {
    checkRange('restart.maxRestarts', maxRestarts, { min: 0, max: 1000, integer: true })
  }
  checkRange('restart.windowMs', windowMs, { min: 1 })
  checkRange('restart.minMs', minMs, { min: 0 })
  checkRange('restart.maxMs', maxMs, { min: minMs })
  return { maxRestarts, windowMs, minMs, maxMs }
}
