import { causeLabel } from '../../util/error-cause.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Clock } from '../../util/time/clock.ts'
import type { Deadlines } from '../../util/time/deadline.ts'
import { busyReason } from '../forward/errors.ts'
import type { UpstreamOptions } from '../options.ts'
import { Breaker, type BreakerState } from '../policy/breaker.ts'
import { retryAfterMsOf } from '../policy/fault.ts'
import { BreakerProbe } from './breaker-probe.ts'

/** What the availability of an instance depends on, and what it reports. */
export interface AvailabilityHost {
  readonly clock: Clock
  readonly deadlines: Deadlines
  /** Returns the number of calls that the instance has answered. */
  answered(): number
  /** Returns whether the instance is probed while its breaker is open. */
  isProbed(): boolean
  /** Asks the instance for a sign of life. Never rejects. */
  responds(): Promise<boolean>
  onBreaker(from: BreakerState, to: BreakerState, why: string): void
}

/**
 * Decides whether a connected instance takes calls: not while its circuit breaker is open, and not before
 * the time that its server asked for has passed.
 */
export class Availability {
  readonly #host: AvailabilityHost
  readonly #probe: BreakerProbe
  #breaker: Breaker | undefined
  /** Until when the server asked to be left alone; 0 if it did not. */
  #heldUntil = 0
  #lastFailure: string | undefined
  /** The number of answered calls at the time of the last failure. */
  #answeredThen = 0

  constructor(breaker: UpstreamOptions['breaker'], host: AvailabilityHost) {
    this.#host = host
    const { deadlines } = host
    this.#probe = new BreakerProbe({ deadlines, responds: () => host.responds() })
    this.#breaker = this.#makeBreaker(breaker)
  }

  /** Undefined if the options disable it. */
  get breaker(): Breaker | undefined {
    return this.#breaker
  }

  /** Whether the instance takes a call now. */
  get isReady(): boolean {
    if (this.#breaker?.isReady === false) return false
    return this.#heldUntil === 0 || this.heldMs === 0
  }

  /** Why the instance takes no calls, in one line, for callers; undefined if it takes calls. */
  get unavailableReason(): string | undefined {
    const breaker = this.#breaker
    if (this.heldMs > 0) return busyReason
    return breaker?.state === 'open'
      ? `its circuit breaker is open after ${breaker.why}`
      : undefined
  }

  /** Milliseconds for which the server asked to be left alone; 0 if it did not. */
  get heldMs(): number {
    return this.#heldUntil === 0 ? 0 : Math.max(0, this.#heldUntil - this.#host.clock.now())
  }

  /**
   * Milliseconds until the instance takes a call although it is held, or its breaker is open and no other
   * instance takes calls; 0 if neither is so.
   */
  get unavailableMs(): number {
    const { heldMs } = this
    const breaker = this.#breaker
    if (heldMs > 0 || breaker === undefined || breaker.isReady) return Math.ceil(heldMs)
    const panicMs = Math.max(1, limits.breakerPanicMs.default - breaker.openForMs)
    return breaker.state === 'open' ? Math.ceil(Math.min(panicMs, breaker.retryAfterMs)) : 1
  }

  /** Why a call or the connection failed, in a word or two, unless a call was answered since. */
  get lastFailure(): string | undefined {
    return this.#host.answered() === this.#answeredThen ? this.#lastFailure : undefined
  }

  /**
   * Lets one call through although the breaker is open, if it has been for `breakerPanicMs`; returns whether
   * it does. For a server none of whose instances takes calls.
   */
  mayProbe(): boolean {
    const breaker = this.#breaker
    if (this.heldMs > 0 || breaker === undefined) return false
    if (breaker.openForMs < limits.breakerPanicMs.default) return false
    breaker.tryNow()
    return breaker.isReady
  }

  /** Must be called when a call, or the connection, failed; `label` says why in a word or two. */
  onFailure(label: string): void {
    this.#lastFailure = label
    this.#answeredThen = this.#host.answered()
  }

  /** Must be called when the connection was lost. */
  onDown(cause: Error | undefined): void {
    const label = causeLabel(cause)
    if (label !== undefined) this.onFailure(label)
  }

  /** Must be called when the server refused a call because it is busy: honors the time that it asks for. */
  onBusy(error: unknown): void {
    const retryAfterMs = retryAfterMsOf(error) ?? 0
    if (retryAfterMs > 0) this.#heldUntil = this.#host.clock.now() + retryAfterMs
  }

  /** Ends the time that the server asked for. */
  release(): void {
    this.#heldUntil = 0
  }

  /** Replaces the breaker by one with other options. */
  replaceBreaker(options: UpstreamOptions['breaker']): void {
    this.#breaker = this.#makeBreaker(options)
  }

  /** Stops probing the instance. */
  stop(): void {
    this.#probe.stop()
  }

  #makeBreaker(options: UpstreamOptions['breaker']): Breaker | undefined {
    if (options === false) return undefined
    const { clock } = this.#host
    let state: BreakerState = 'closed'
    const made: Breaker = new Breaker(options ?? {}, {
      now: () => clock.now(),
      onChange: (to, why) => {
        const from = state
        state = to
        this.#host.onBreaker(from, to, why)
        if (this.#host.isProbed()) this.#probe.onChange(made, from, to)
      },
    })
    return made
  }
}
