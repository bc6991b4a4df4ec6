import { limits } from '../limits/limits.ts'
import { CrowdedTurns } from './crowded-turns.ts'

/**
 * Counts the bytes that the connections of one listener hold in memory for their peers, whatever holds
 * them: incomplete messages and output that was not read. Each holder has a `Holding`.
 *
 * The first `uncountedBytes` of each holding do not count, so that ordinary messages pass even while
 * the budget is used up.
 */
export class HeldBytes {
  readonly max: number
  /** When requests are handled while much is held. */
  readonly turns = new CrowdedTurns(this)
  #total = 0
  #added = 0
  /** What disconnects the peers with unread output. Those that have read nothing for longest come first. */
  readonly #cuts = new Map<Holding, () => void>()

  constructor(max: number = limits.heldBytes.default) {
    this.max = max
  }

  /** The bytes that count. */
  get total(): number {
    return this.#total
  }

  /** The bytes that have ever counted, which only grows. */
  get added(): number {
    return this.#added
  }

  /** Whether more is held than the budget allows. */
  get isOver(): boolean {
    return this.#total > this.max
  }

  /** Whether more than half of the budget is used. */
  get isCrowded(): boolean {
    return this.#total > this.max / 2
  }

  /**
   * Makes a holding of zero bytes. For unread output, `cut` disconnects its peer and sets the holding to
   * zero.
   */
  hold(cut?: () => void): Holding {
    let counted = 0
    const set = (bytes: number): void => {
      const next = Math.max(0, bytes - limits.uncountedBytes.default)
      const more = next - counted
      this.#total += more
      if (more > 0) this.#added += more
      counted = next
      if (cut === undefined) return
      if (next === 0) this.#cuts.delete(holding)
      else if (!this.#cuts.has(holding)) this.#cuts.set(holding, cut)
      if (more > 0 && this.isOver) this.#relieve(holding)
    }
    const trySet = (bytes: number): boolean => {
      const more = Math.max(0, bytes - limits.uncountedBytes.default) - counted
      if (more > 0 && this.#total + more > this.max) return false
      set(bytes)
      return true
    }
    const progressed = (): void => {
      if (cut !== undefined && this.#cuts.delete(holding)) this.#cuts.set(holding, cut)
    }
    const holding = { set, trySet, progressed }
    return holding
  }

  /** Disconnects peers until the budget suffices, but not the one for which more was just written. */
  #relieve(latest: Holding): void {
    for (const [holding, cut] of this.#cuts) {
      if (!this.isOver) return
      if (holding !== latest) cut()
    }
  }
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
