import { limits } from '../limits/limits.ts'
import { ListenerTurns } from './listener-turns.ts'
import { RequestBudget } from './request-budget.ts'

/** Limits of what one listener holds for all its connections. */
export interface HeldBytesOptions {
  /** How many bytes of incomplete and unread messages all connections may hold together. */
  readonly maxHeldBytes?: number
  /** Milliseconds for which the rest of a message waits to be read while there is no room for it. */
  readonly heldWaitMs?: number
  /** How many bytes of memory requests in flight may take together. */
  readonly maxRequestBytes?: number
}

/**
 * Counts the bytes that the connections of one listener hold in memory for their peers, whatever holds
 * them: incomplete messages and output that was not read. Each holder has a `Holding`.
 *
 * The first `uncountedBytes` of each holding do not count, as long as all of them together stay below
 * `uncountedTotalBytes`, so that ordinary messages pass even while the budget is used up.
 */
export class HeldBytes {
  readonly max: number
  /** How long a message may wait for room. */
  readonly waitMs: number
  /** When messages are handled. */
  readonly turns = new ListenerTurns(this)
  /** The memory of requests in flight, which is counted apart. */
  readonly requests: RequestBudget
  /** The first bytes of all holdings, and the bytes beyond them. */
  #small = 0
  #large = 0
  /** The part of `#large` that is unread output, and how much of that was ever added. */
  #unread = 0
  #added = 0
  /** What disconnects the peers with unread output. Those that have read nothing for longest come first. */
  readonly #cuts = new Map<Holding, () => void>()
  readonly #waiting = new Set<RoomWaiter>()

  constructor(options: HeldBytesOptions = {}) {
    this.max = options.maxHeldBytes ?? limits.heldBytes.default
    this.waitMs = options.heldWaitMs ?? limits.heldWaitMs.default
    this.requests = new RequestBudget(options.maxRequestBytes)
  }

  /** The bytes that count. */
  get total(): number {
    return total(this.#small, this.#large)
  }

  /** The unread output that has ever counted, which only grows. */
  get added(): number {
    return this.#added
  }

  /** Whether more is held than the budget allows. */
  get isOver(): boolean {
    return this.total > this.max
  }

  /** Whether unread output takes more than half of the budget. */
  get isCrowded(): boolean {
    return this.#unread > this.max / 2
  }

  /** Whether somebody waits for room. */
  get hasWaiting(): boolean {
    return this.#waiting.size > 0
  }

  /**
   * Makes a holding of zero bytes. For unread output, `cut` disconnects its peer and sets the holding to
   * zero.
   */
  hold(cut?: () => void): Holding {
    let held = 0
    const set = (bytes: number): void => {
      const more = bytes - held
      const moreLarge = large(bytes) - large(held)
      this.#small += more - moreLarge
      this.#large += moreLarge
      held = bytes
      if (cut !== undefined) {
        this.#unread += moreLarge
        if (moreLarge > 0) this.#added += moreLarge
        if (bytes === 0) this.#cuts.delete(holding)
        else if (!this.#cuts.has(holding)) this.#cuts.set(holding, cut)
        if (more > 0 && this.isOver) this.#relieve(holding)
      }
      if (more < 0 && this.#waiting.size > 0) this.#admit()
    }
    const trySet = (bytes: number): boolean => {
      const moreLarge = large(bytes) - large(held)
      const next = total(this.#small + bytes - held - moreLarge, this.#large + moreLarge)
      if (next > this.max && next > this.total) return false
      set(bytes)
      return true
    }
    const progressed = (): void => {
      if (cut !== undefined && this.#cuts.delete(holding)) this.#cuts.set(holding, cut)
    }
    const holding = { set, trySet, progressed }
    return holding
  }

  /** Asks `waiter` to try again whenever there is more room. Returns false if too many wait already. */
  wait(waiter: RoomWaiter): boolean {
    if (this.#waiting.size >= limits.heldWaiting.default) return false
    this.#waiting.add(waiter)
    return true
  }

  /** Stops asking a waiter. */
  leave(waiter: RoomWaiter): void {
    this.#waiting.delete(waiter)
  }

  /** Lets those in who wait, in their order, as long as there is room for the first. */
  #admit(): void {
    for (const waiter of this.#waiting) if (!waiter.admit()) return
  }

  /** Disconnects peers until the budget suffices, but not the one for which more was just written. */
  #relieve(latest: Holding): void {
    for (const [holding, cut] of this.#cuts) {
      if (!this.isOver) return
      if (holding !== latest) cut()
    }
  }
}

/** Somebody who waits until the budget has room. */
export interface RoomWaiter {
  /** Takes the room and leaves the queue. Returns false if it does not suffice. */
  admit(): boolean
}

/** The bytes that one connection or body holds. */
export interface Holding {
  /**
   * Sets the number of bytes, even beyond the budget. If they are unread output, peers that have read
   * nothing for longer are then disconnected.
   */
  set(bytes: number): void
  /** Sets the number of bytes, unless the budget has no room for more; then returns false. */
  trySet(bytes: number): boolean
  /** The peer has read some of the output. */
  progressed(): void
}

/** Returns how many of the bytes of one holding always count. */
function large(bytes: number): number {
  return Math.max(0, bytes - limits.uncountedBytes.default)
}

function total(small: number, large: number): number {
  return large + Math.max(0, small - limits.uncountedTotalBytes.default)
}
