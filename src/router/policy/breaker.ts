import type { BreakerState } from '../../observe/events.ts'
import { checked } from '../../util/in-range.ts'
import { limits } from '../../util/limits/limits.ts'
import type { BreakerOptions } from '../options.ts'

export type { BreakerState } from '../../observe/events.ts'

/** Where a breaker takes the time from, and whom it tells. */
export interface BreakerHost {
  /** Milliseconds that never go back. */
  readonly now: () => number
  /** Told after each change, with the reason in one line. Must not throw. */
  readonly onChange?: (state: BreakerState, why: string) => void
}

/**
 * Keeps calls away from an instance that fails: after `failures` in a row, or when the share `ratio`
 * of the last `window` calls failed, it opens for `openMs`. Then it is half-open: one call at a time
 * goes through, `successes` in a row close it, one failure opens it again. A call that takes longer than
 * `openMs` holds up nobody: another one goes through beside it.
 *
 * Every call asks `begin` and then says exactly once how it ended: `succeeded`, `failed` or
 * `abandoned`. Which failures count is the caller's choice; the answer "no such tool" is a success.
 * Throws a RangeError for options out of range.
 */
export class Breaker {
  readonly #options: Required<BreakerOptions>
  readonly #now: () => number
  readonly #onChange: BreakerHost['onChange']
  /** The last outcomes in a ring; 1 is a failure. */
  readonly #window: Uint8Array
  #at = 0
  #seen = 0
  #failedInWindow = 0
  #failedInRow = 0
  #succeededInRow = 0
  #probes = 0
  #probedAt = 0
  #state: BreakerState = 'closed'
  #openUntil = 0
  #why = ''
  // Counts the changes, so that the end of a call is counted only in the state it began in.
  #epoch = 1

  constructor(options: BreakerOptions, host: BreakerHost) {
    this.#options = settings(options)
    this.#now = host.now
    this.#onChange = host.onChange
    this.#window = new Uint8Array(this.#options.window)
  }

  /** The state now. An open breaker whose time is over is half-open. */
  get state(): BreakerState {
    return this.#isOver() ? 'half-open' : this.#state
  }

  /** Why it is not closed, in one line: `5 failures in a row`. Empty while it is closed. */
  get why(): string {
    return this.#why
  }

  /** Whether a call may begin now. Changes nothing. */
  get isReady(): boolean {
    if (this.#state === 'closed') return true
    if (this.#state === 'open') return this.#isOver()
    if (this.#probes < limits.breakerProbes.default) return true
    return this.#now() - this.#probedAt >= this.#options.openMs
  }

  /** Milliseconds until a call makes sense again; 0 unless it is open. */
  get retryAfterMs(): number {
    if (this.state !== 'open') return 0
    return Math.ceil(this.#openUntil - this.#now())
  }

  /**
   * Begins a call, if one may begin: gives a ticket, which is true, or 0. The ticket goes back with the
   * outcome, because a call that began before the breaker opened says nothing about a later trial.
   */
  begin(): number {
    if (this.#state === 'closed') return this.#epoch
    if (!this.isReady) return 0
    if (this.#state === 'open') this.#change('half-open', `on trial after ${this.#why}`)
    this.#probes++
    this.#probedAt = this.#now()
    return this.#epoch
  }

  /** A call ended well. */
  succeeded(ticket = this.#epoch): void {
    if (ticket !== this.#epoch) return
    if (this.#state === 'closed') {
      this.#failedInRow = 0
      this.#count(0)
    } else if (this.#state === 'half-open') {
      this.#endProbe()
      if (++this.#succeededInRow >= this.#options.successes) this.#change('closed', '')
    }
  }

  /** A call failed in a way that speaks against the instance. */
  failed(ticket = this.#epoch): void {
    if (ticket !== this.#epoch) return
    if (this.#state === 'half-open') {
      this.#open('a failure while on trial')
    } else if (this.#state === 'closed') {
      this.#failedInRow++
      this.#count(1)
      this.#judge()
    }
  }

  /** A call ended without saying anything about the instance: its caller gave it up, for instance. */
  abandoned(ticket = this.#epoch): void {
    if (ticket === this.#epoch && this.#state === 'half-open') this.#endProbe()
  }

  /** Puts an open one on trial at once: there is reason to think that what it opened for is over. */
  tryNow(): void {
    if (this.#state === 'open') this.#openUntil = this.#now()
  }

  /** Closes it and forgets everything. */
  reset(): void {
    this.#change('closed', '')
  }

  #isOver(): boolean {
    return this.#state === 'open' && this.#now() >= this.#openUntil
  }

  #judge(): void {
    const { failures, ratio, window } = this.#options
    const failed = this.#failedInWindow
    if (this.#failedInRow >= failures) {
      this.#open(`${failures} ${failures === 1 ? 'failure' : 'failures in a row'}`)
    } else if (this.#seen === window && failed / window >= ratio) {
      this.#open(`${failed} of the last ${window} calls failed`)
    }
  }

  #count(outcome: 0 | 1): void {
    const oldest = this.#window[this.#at] ?? 0
    // Before the ring is full the places ahead hold 0, which takes nothing away.
    this.#failedInWindow += outcome - oldest
    this.#window[this.#at] = outcome
    this.#at = (this.#at + 1) % this.#window.length
    if (this.#seen < this.#window.length) this.#seen++
  }

  #endProbe(): void {
    if (this.#probes > 0) this.#probes--
  }

  #open(why: string): void {
    this.#openUntil = this.#now() + this.#options.openMs
    this.#change('open', why)
  }

  #change(state: BreakerState, why: string): void {
    const isNews = state !== this.#state
    this.#state = state
    this.#why = why
    this.#epoch++
    this.#probes = 0
    this.#succeededInRow = 0
    if (state === 'closed') this.#forget()
    if (isNews) this.#onChange?.(state, why)
  }

  #forget(): void {
    this.#window.fill(0)
    this.#at = 0
    this.#seen = 0
    this.#failedInWindow = 0
    this.#failedInRow = 0
  }
}

const count = { least: 1, most: 10_000, whole: true }

function settings(options: BreakerOptions): Required<BreakerOptions> {
  const failures = options.failures ?? limits.breakerFailures.default
  const ratio = options.ratio ?? limits.breakerRatio.default
  const window = options.window ?? limits.breakerWindow.default
  const openMs = options.openMs ?? limits.breakerOpenMs.default
  const successes = options.successes ?? limits.breakerSuccesses.default
  return {
    failures: checked('breaker.failures', failures, count),
    ratio: checked('breaker.ratio', ratio, { least: 0, most: 1 }),
    window: checked('breaker.window', window, count),
    openMs: checked('breaker.openMs', openMs, { least: 1 }),
    successes: checked('breaker.successes', successes, count),
  }
}
