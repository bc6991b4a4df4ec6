import type { BreakerState } from '../../observe/events.ts'
import { limits } from '../../util/limits/limits.ts'
import { checkRange } from '../../util/range.ts'
import type { BreakerOptions } from '../options.ts'

export type { BreakerState } from '../../observe/events.ts'

/** What a breaker needs, and what it reports. */
export interface BreakerHost {
  /** Monotonic time in milliseconds. */
  readonly now: () => number
  /** Called after each change of state, with the reason in one line. Must not throw. */
  readonly onChange?: (state: BreakerState, why: string) => void
  /** Called when a probe has ended and the breaker stays half-open. Must not throw. */
  readonly onProbed?: () => void
}

/**
 * A circuit breaker that keeps calls away from a failing instance: after `failures` in a row, or when the
 * share `ratio` of the last `window` calls failed, it opens for `openMs`. Then it is half-open: one call at a
 * time goes through, `successes` in a row close it, one failure opens it again. A call that takes longer
 * than `openMs` does not block it: another call goes through beside it.
 *
 * Every call takes a ticket from `begin` and then reports its outcome exactly once: `succeeded`, `failed` or
 * `abandoned`. The caller decides which failures count; the error "no such tool" is a success. The
 * constructor throws a RangeError for options out of range.
 */
export class Breaker {
  readonly #options: Required<BreakerOptions>
  readonly #now: () => number
  readonly #onChange: BreakerHost['onChange']
  readonly #onProbed: BreakerHost['onProbed']
  /** The latest outcomes in a ring buffer; 1 is a failure. */
  readonly #window: Uint8Array
  #at = 0
  #seen = 0
  #failedInWindow = 0
  #failedInRow = 0
  #succeededInRow = 0
  #probes = 0
  #probedAt = 0
  #state: BreakerState = 'closed'
  #openedAt = 0
  #openUntil = 0
  #why = ''
  // Counts the changes of state, so that an outcome counts only in the state that the call began in.
  #epoch = 1

  constructor(options: BreakerOptions, host: BreakerHost) {
    this.#options = settings(options)
    this.#now = host.now
    this.#onChange = host.onChange
    this.#onProbed = host.onProbed
    this.#window = new Uint8Array(this.#options.window)
  }

  /** The current state. An open breaker is half-open after `openMs`. */
  get state(): BreakerState {
    return this.#hasExpired() ? 'half-open' : this.#state
  }

  /** Why it is not closed, in one line, such as `5 failures in a row`. Empty while it is closed. */
  get why(): string {
    return this.#why
  }

  /** Whether a call may begin now. Has no side effect. */
  get isReady(): boolean {
    if (this.#state === 'closed') return true
    if (this.#state === 'open') return this.#hasExpired()
    if (this.#probes < limits.breakerProbes.default) return true
    return this.#now() - this.#probedAt >= this.#options.openMs
  }

  /** Milliseconds until it is half-open; 0 unless it is open. */
  get retryAfterMs(): number {
    if (this.state !== 'open') return 0
    return Math.ceil(this.#openUntil - this.#now())
  }

  /** Milliseconds since it opened; 0 unless it is open. */
  get openForMs(): number {
    return this.state === 'open' ? this.#now() - this.#openedAt : 0
  }

  /**
   * Begins a call and returns its ticket, which is truthy, or 0 if no call may begin. The ticket goes with
   * the outcome, because a call that began before the breaker opened says nothing about a later probe.
   */
  begin(): number {
    if (this.#state === 'closed') return this.#epoch
    if (!this.isReady) return 0
    if (this.#state === 'open') this.#change('half-open', `probing after ${this.#why}`)
    this.#probes++
    this.#probedAt = this.#now()
    return this.#epoch
  }

  /** Reports that a call succeeded. */
  succeeded(ticket = this.#epoch): void {
    if (ticket !== this.#epoch) return
    if (this.#state === 'closed') {
      this.#failedInRow = 0
      this.#count(0)
    } else if (this.#state === 'half-open') {
      if (++this.#succeededInRow >= this.#options.successes) this.#change('closed', '')
      else this.#endProbe()
    }
  }

  /** Reports a failure of the instance. */
  failed(ticket = this.#epoch): void {
    if (ticket !== this.#epoch) return
    if (this.#state === 'half-open') {
      this.#open('a failure while half-open')
    } else if (this.#state === 'closed') {
      this.#failedInRow++
      this.#count(1)
      this.#evaluate()
    }
  }

  /** Reports that a call ended without an outcome, because its caller gave it up, for example. */
  abandoned(ticket = this.#epoch): void {
    if (ticket === this.#epoch && this.#state === 'half-open') this.#endProbe()
  }

  /** Makes an open breaker half-open at once, because the instance has probably recovered. */
  tryNow(): void {
    if (this.#state === 'open') this.#openUntil = this.#now()
  }

  /** Closes it and resets its counters. */
  reset(): void {
    this.#change('closed', '')
  }

  #hasExpired(): boolean {
    return this.#state === 'open' && this.#now() >= this.#openUntil
  }

  #evaluate(): void {
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
    // Until the ring is full, the slots ahead hold 0, which subtracts nothing.
    this.#failedInWindow += outcome - oldest
    this.#window[this.#at] = outcome
    this.#at = (this.#at + 1) % this.#window.length
    if (this.#seen < this.#window.length) this.#seen++
  }

  #endProbe(): void {
    if (this.#probes > 0) this.#probes--
    this.#onProbed?.()
  }

  #open(why: string): void {
    this.#openedAt = this.#now()
    this.#openUntil = this.#openedAt + this.#options.openMs
    this.#change('open', why)
  }

  #change(state: BreakerState, why: string): void {
    const isChange = state !== this.#state
    this.#state = state
    this.#why = why
    this.#epoch++
    this.#probes = 0
    this.#succeededInRow = 0
    if (state === 'closed') this.#resetCounters()
    if (isChange) this.#onChange?.(state, why)
  }

  #resetCounters(): void {
    this.#window.fill(0)
    this.#at = 0
    this.#seen = 0
    this.#failedInWindow = 0
    this.#failedInRow = 0
  }
}

const count = { min: 1, max: 10_000, integer: true }

function settings(options: BreakerOptions): Required<BreakerOptions> {
  const failures = options.failures ?? limits.breakerFailures.default
  const ratio = options.ratio ?? limits.breakerRatio.default
  const window = options.window ?? limits.breakerWindow.default
  const openMs = options.openMs ?? limits.breakerOpenMs.default
  const successes = options.successes ?? limits.breakerSuccesses.default
  return {
    failures: checkRange('breaker.failures', failures, count),
    ratio: checkRange('breaker.ratio', ratio, { min: 0, max: 1 }),
    window: checkRange('breaker.window', window, count),
    openMs: checkRange('breaker.openMs', openMs, { min: 1 }),
    successes: checkRange('breaker.successes', successes, count),
  }
}
