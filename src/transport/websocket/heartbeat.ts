import { limits } from '../../util/limits/limits.ts'
import { type Clock, systemClock, type Timer } from '../../util/time/clock.ts'

/** A connection that a Heartbeat checks. */
export interface HeartbeatMember {
  /** Sends a ping and forgets earlier signs of activity. */
  ping(): void
  /** Whether the peer has shown activity since the last ping. */
  isAlive(): boolean
  /** Called once, when the peer did not respond in time. */
  lost(): void
}

/** Options of the heartbeat of WebSockets. */
export interface WebSocketHeartbeatOptions {
  /** The interval between pings in milliseconds; 0 disables them. */
  readonly pingMs?: number
  /** Milliseconds that the peer has to respond to a ping. */
  readonly pongMs?: number
  /** The clock for pings; for tests. */
  readonly clock?: Clock
}

/**
 * Detects connections whose peer has vanished. All of them share one timer, which runs only while there
 * are some and does not keep the process alive.
 */
export class WebSocketHeartbeat {
  readonly #members = new Set<HeartbeatMember>()
  readonly #pingMs: number
  readonly #pongMs: number
  readonly #clock: Clock
  #timer: Timer | undefined

  constructor(options: WebSocketHeartbeatOptions = {}) {
    this.#pingMs = options.pingMs ?? limits.pingMs.default
    this.#pongMs = options.pongMs ?? limits.pongMs.default
    this.#clock = options.clock ?? systemClock
  }

  /** Starts checking a connection. */
  add(member: HeartbeatMember): void {
    this.#members.add(member)
    if (this.#timer === undefined && this.#pingMs > 0) this.#next(this.#pingAll, this.#pingMs)
  }

  /** Stops checking a connection. */
  delete(member: HeartbeatMember): void {
    this.#members.delete(member)
    if (this.#members.size > 0 || this.#timer === undefined) return
    this.#clock.stop(this.#timer)
    this.#timer = undefined
  }

  readonly #pingAll = (): void => {
    for (const member of this.#members) member.ping()
    this.#next(this.#check, this.#pongMs)
  }

  readonly #check = (): void => {
    // Scheduled first, because removing the last lost member stops the timer.
    this.#next(this.#pingAll, Math.max(this.#pingMs - this.#pongMs, 0))
    // After one poll of the network: if this process was busy for long, responses may have arrived that
    // were not read yet.
    setImmediate(this.#reportLost)
  }

  readonly #reportLost = (): void => {
    // A member that was added after the ping was not pinged, and counts as alive.
    for (const member of this.#members) if (!member.isAlive()) member.lost()
  }

  #next(step: () => void, delayMs: number): void {
    this.#timer = this.#members.size === 0 ? undefined : this.#clock.start(step, delayMs)
    this.#timer?.unref()
  }
}
