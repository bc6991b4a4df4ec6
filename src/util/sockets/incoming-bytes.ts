import { limits } from '../limits/limits.ts'
import { type Deadlines, systemDeadlines, timed } from '../time/deadline.ts'
import type { HeldBytes, Holding, RoomWaiter } from './held-bytes.ts'

/** What reads the messages whose bytes are counted. */
export interface IncomingOwner {
  /** There is no room at the moment: nothing is to be read until `proceed` or `refuse` is called. */
  pause(): void
  proceed(): void
  /** There was no room for too long, or too many wait already. Can be called without `pause`. */
  refuse(): void
}

/**
 * Counts the incomplete message of a connection, and lets reading wait while the budget has no room.
 *
 * A message beyond `uncountedBytes` takes room for all of it at once. Otherwise many messages could
 * share the budget, of which none can be completed.
 */
export class IncomingBytes implements RoomWaiter {
  readonly #held: HeldBytes
  readonly #holding: Holding
  readonly #owner: IncomingOwner
  readonly #deadlines: Deadlines
  readonly #timeout = timed(() => this.#refuse())
  /** The bytes that have room. */
  #room = 0
  #wanted = 0
  #isWaiting = false

  constructor(held: HeldBytes, owner: IncomingOwner, deadlines: Deadlines = systemDeadlines) {
    this.#held = held
    this.#holding = held.hold()
    this.#owner = owner
    this.#deadlines = deadlines
  }

  /**
   * Sets how many bytes of memory the incomplete message takes now, and how long it can become. Once
   * there was room for it, it never waits again, because it could wait for itself: it is refused if it
   * takes far more memory than its length.
   */
  set(bytes: number, maxLength: number): void {
    if (this.#isWaiting || bytes <= this.#room) return
    const isLarge = bytes > limits.uncountedBytes.default
    const hadRoom = this.#room > limits.uncountedBytes.default
    // A message that alone may exceed the budget takes all of it.
    const memory = Math.min(maxLength * overhead + limits.uncountedBytes.default, this.#held.max)
    const wanted = isLarge ? Math.max(bytes, memory) : bytes
    const isNext = !isLarge || hadRoom || !this.#held.hasWaiting
    if (isNext && this.#holding.trySet(wanted)) this.#room = wanted
    else if (hadRoom) this.#refuse()
    else this.#wait(wanted)
  }

  /** The message is complete, or the connection has closed. */
  clear(): void {
    const wasWaiting = this.#isWaiting
    this.#release()
    if (wasWaiting) this.#owner.proceed()
  }

  admit(): boolean {
    if (!this.#holding.trySet(this.#wanted)) return false
    this.#room = this.#wanted
    this.#stopWaiting()
    this.#owner.proceed()
    return true
  }

  #wait(wanted: number): void {
    this.#wanted = wanted
    if (!this.#held.wait(this)) {
      this.#refuse()
      return
    }
    this.#isWaiting = true
    this.#deadlines.start(this.#timeout, this.#held.waitMs)
    this.#owner.pause()
  }

  #stopWaiting(): void {
    if (!this.#isWaiting) return
    this.#isWaiting = false
    this.#held.leave(this)
    this.#deadlines.stop(this.#timeout)
  }

  #release(): void {
    this.#stopWaiting()
    if (this.#room === 0) return
    this.#room = 0
    this.#holding.set(0)
  }

  #refuse(): void {
    this.#release()
    this.#owner.refuse()
  }
}

/** How many times its length a message usually takes in memory at most. */
const overhead = 1.125
