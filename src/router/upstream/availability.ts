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
  /** Returns whether the instance responds to a liveness probe. Never rejects. */
  responds(): Promise<boolean>
  /** Whether an open breaker is probed: each request may fail alone, so there is no loss to wait for. */
  isProbed(): boolean
  /** The number of calls that the instance has answered. */
  answered(): number
  onBreaker(from: BreakerState, to: BreakerState, why: string): void
  /** The instance may take calls that it did not take before, or none that wait for it. */
  onChange(): void
}

/**
 * Decides whether an instance that is connected takes calls: not while its circuit breaker is open, and not
 * during the back-off that the server requested (`Retry-After`).
 */
export class Availability {
  readonly #host: AvailabilityHost
  readonly #probe: BreakerProbe
  #breaker: Breaker | undefined
  /** When the back-off that the server requested ends; 0 if there is none. */
  #heldUntil = 0
  #lastFailure: string | undefined
  /** The calls answered when that was. */
  #answeredThen = 0

  constructor(options: UpstreamOptions['breaker'], host: AvailabilityHost) {
    this.#host = host
    this.#probe = new BreakerProbe({
      deadlines: host.deadlines,
      responds: () => host.responds(),
      onProbed: () => host.onChange(),
    })
    this.#breaker = this.#makeBreaker(options)
  }

  /** Undefined if the options disable it. */
  get breaker(): Breaker | undefined {
    return this.#breaker
  }

  /** Whether a call may be sent now. */
  get isReady(): boolean {
    if (this.#breaker?.isReady === false) return false
    return this.#heldUntil === 0 || this.heldMs === 0
  }

  /** Whether it will soon be known that calls may be sent: a call is on trial, or a probe awaits its response. */
  get isOnTrial(): boolean {
    return this.heldMs === 0 && (this.#probe.isUndecided || this.#breaker?.state === 'half-open')
  }

  /** Milliseconds that remain of the back-off that the server requested; 0 if there is none. */
  get heldMs(): number {
    return this.#heldUntil === 0 ? 0 : Math.max(0, this.#heldUntil - this.#host.clock.now())
  }

  /**
   * Milliseconds until a call may be sent although the server requested a back-off, or the breaker is open
   * and no other instance takes calls; 0 if neither is so.
   */
  get unavailableMs(): number {
    const { heldMs } = this
    const breaker = this.#breaker
    if (heldMs > 0 || breaker === undefined || breaker.isReady) return Math.ceil(heldMs)
    const panicMs = Math.max(1, limits.breakerPanicMs.default - breaker.openForMs)
    return breaker.state === 'open' ? Math.ceil(Math.min(panicMs, breaker.retryAfterMs)) : 1
  }

  /** Why no calls are sent, in one line, for callers. */
  get reason(): string | undefined {
    const breaker = this.#breaker
    if (this.heldMs > 0) return busyReason
    return breaker?.state === 'open'
      ? `its circuit breaker is open after ${breaker.why}`
      : undefined
  }

  /** Why a call or the connection failed, in a word or two, unless a call was answered since. */
  get lastFailure(): string | undefined {
    return this.#host.answered() === this.#answeredThen ? this.#lastFailure : undefined
  }

  /** Must be called with a word or two when a call or the connection failed. */
  failed(label: string): void {
    this.#lastFailure = label
    this.#answeredThen = this.#host.answered()
  }

  /** Sends no calls for as long as the server asks with an error. */
  hold(error: unknown): void {
    const retryAfterMs = retryAfterMsOf(error) ?? 0
    if (retryAfterMs > 0) this.#heldUntil = this.#host.clock.now() + retryAfterMs
  }

  /** Ends the back-off that the server requested. */
  release(): void {
    this.#heldUntil = 0
  }

  /** Lets a call through an open breaker, because the instance has probably recovered. */
  tryNow(): void {
    if (this.#breaker?.state !== 'open') return
    this.#breaker.tryNow()
    this.#host.onChange()
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

  /** Closes the breaker, because its failures were those of a process or connection that is gone. */
  reset(): void {
    this.#breaker?.reset()
  }

  /** Replaces the breaker by a closed one with other options. */
  adjust(options: UpstreamOptions['breaker']): void {
    this.#breaker = this.#makeBreaker(options)
  }

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
        this.#host.onChange()
      },
      onProbed: () => this.#host.onChange(),
    })
    return made
  }
}
