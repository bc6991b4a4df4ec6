import { type Deadlines, timed } from '../../util/time/deadline.ts'

/** What is known of a peer that closes. */
export interface DrainHost {
  readonly deadlines: Deadlines
  /** Whether every request was answered and every reply was sent. */
  isIdle(): boolean
  /** The number of messages received so far. */
  received(): number
}

/** Waits until a peer that closes has answered its requests in flight, and no more requests arrive. */
export class Drain {
  readonly #host: DrainHost
  readonly #deadline = timed(() => this.end())
  #isLingering = false
  #finish: (() => void) | undefined

  constructor(host: DrainHost) {
    this.#host = host
  }

  /**
   * Settles when the peer is idle and no message has arrived for `lingerMs`, at the latest after `drainMs`,
   * which must be positive.
   */
  whenDone(drainMs: number, lingerMs: number): Promise<void> | undefined {
    if (lingerMs > 0) this.#linger(lingerMs)
    if (this.#isDone()) return undefined
    this.#host.deadlines.start(this.#deadline, drainMs)
    return new Promise(resolve => {
      this.#finish = resolve
    })
  }

  /** Must be called when a request was answered, or a reply was sent. */
  onChange(): void {
    if (this.#finish !== undefined && this.#isDone()) this.end()
  }

  /** Must be called when no message can arrive any more. */
  stopLingering(): void {
    this.#isLingering = false
    this.onChange()
  }

  /** Gives it another `drainMs`; with 0 it ends at once. */
  restart(drainMs: number): void {
    if (this.#finish === undefined) return
    this.#host.deadlines.stop(this.#deadline)
    if (drainMs > 0) this.#host.deadlines.start(this.#deadline, drainMs)
    else this.end()
  }

  /** Stops waiting. */
  end(): void {
    this.#isLingering = false
    this.#host.deadlines.stop(this.#deadline)
    this.#finish?.()
    this.#finish = undefined
  }

  #isDone(): boolean {
    return !this.#isLingering && this.#host.isIdle()
  }

  /** In two steps, because a process that was stopped for a while reads what has arrived after its timers. */
  #linger(lingerMs: number): void {
    const { deadlines } = this.#host
    this.#isLingering = true
    let received = this.#host.received()
    let quietSteps = 0
    const step = timed(() => {
      if (!this.#isLingering) return
      quietSteps = this.#host.received() === received ? quietSteps + 1 : 0
      received = this.#host.received()
      if (quietSteps === 2) this.stopLingering()
      else deadlines.start(step, lingerMs / 2)
    })
    deadlines.start(step, lingerMs / 2)
  }
}
