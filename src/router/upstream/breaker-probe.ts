import { outsideTraces } from '../../mcp/trace-context.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Deadlines, timed } from '../../util/time/deadline.ts'
import type { Breaker, BreakerState } from '../policy/breaker.ts'

/** What a probe needs of its instance. */
export interface BreakerProbeHost {
  readonly deadlines: Deadlines
  /** Returns whether the instance responds to a request. Never rejects. */
  responds(): Promise<boolean>
  /** A probe has ended. If the instance responded, its breaker lets a trial call through. */
  onProbed(): void
}

/**
 * Ends the open state of a breaker early: sends a request to the instance as soon as its breaker opens and
 * then every `breakerPanicMs`, and lets a trial call through at the first response. After a trial that
 * failed it waits before the next request, twice as long each time, because the instance responds and does
 * not work.
 */
export class BreakerProbe {
  readonly #host: BreakerProbeHost
  readonly #alarm = timed(() => void outsideTraces(() => this.#ask()))
  #breaker: Breaker | undefined
  #failedTrials = 0
  #isUndecided = false

  constructor(host: BreakerProbeHost) {
    this.#host = host
  }

  /** Whether the breaker has just opened, and the first probe awaits its response. */
  get isUndecided(): boolean {
    return this.#isUndecided
  }

  /** Must be called with every change of the breaker. */
  onChange(breaker: Breaker, from: BreakerState, to: BreakerState): void {
    this.stop()
    this.#breaker = breaker
    if (to === 'closed') this.#failedTrials = 0
    if (to !== 'open') return
    if (from === 'half-open') {
      this.#wait(limits.breakerPanicMs.default * 2 ** Math.min(this.#failedTrials++, 20))
    } else {
      this.#isUndecided = true
      void outsideTraces(() => this.#ask())
    }
  }

  stop(): void {
    this.#host.deadlines.stop(this.#alarm)
    this.#breaker = undefined
    this.#isUndecided = false
  }

  async #ask(): Promise<void> {
    const breaker = this.#breaker
    if (breaker === undefined) return
    const isAlive = await this.#host.responds()
    if (this.#breaker !== breaker) return
    this.#isUndecided = false
    if (breaker.state === 'open') {
      if (isAlive) breaker.tryNow()
      else this.#wait(limits.breakerPanicMs.default)
    }
    this.#host.onProbed()
  }

  #wait(ms: number): void {
    this.#host.deadlines.start(this.#alarm, ms)
  }
}
