import { limits } from '../../util/limits/limits.ts'
import { type Clock, systemClock, type Timer } from '../../util/time/clock.ts'

/** A connection that is asked for signs of life. */
export interface Beating {
  /** Forgets the signs seen so far and asks for one. */
  ping(): void
  /** Whether there is no reason to think that the other side is gone. */
  isAlive(): boolean
  /** Told once, when no sign came in time. */
  lost(): void
}

export interface HeartbeatOptions {
  /** How often each connection is asked; 0 asks never. */
  readonly pingMs?: number
  /** How long each has to answer. */
  readonly pongMs?: number
  readonly clock?: Clock
}

/**
 * Finds the connections whose other side has gone without a word. One timer serves all of them,
 * and it runs only while there are some; it keeps no process alive.
 */
export class Heartbeat {
  readonly #members = new Set<Beating>()
  readonly #pingMs: number
  readonly #pongMs: number
  readonly #clock: Clock
  #timer: Timer | undefined

  constructor(options: HeartbeatOptions = {}) {
    this.#pingMs = options.pingMs ?? limits.pingMs.default
    this.#pongMs = options.pongMs ?? limits.pongMs.default
    this.#clock = options.clock ?? systemClock
  }

  add(member: Beating): void {
    this.#members.add(member)
    if (this.#timer === undefined && this.#pingMs > 0) this.#next(this.#ask, this.#pingMs)
  }

  delete(member: Beating): void {
    this.#members.delete(member)
    if (this.#members.size > 0 || this.#timer === undefined) return
    this.#clock.stop(this.#timer)
    this.#timer = undefined
  }

  readonly #ask = (): void => {
    for (const member of this.#members) member.ping()
    this.#next(this.#check, this.#pongMs)
  }

  readonly #check = (): void => {
    // Set before anybody is told, because the last one to leave stops the timer.
    this.#next(this.#ask, Math.max(this.#pingMs - this.#pongMs, 0))
    // After one look at the network: when this process itself was busy for long, the signs are
    // there and only have not been read.
    setImmediate(this.#verdict)
  }

  readonly #verdict = (): void => {
    // One that came after the asking has not been asked, and counts as alive.
    for (const member of this.#members) if (!member.isAlive()) member.lost()
  }

  #next(step: () => void, delayMs: number): void {
    this.#timer = this.#members.size === 0 ? undefined : this.#clock.start(step, delayMs)
    this.#timer?.unref()
  }
}
