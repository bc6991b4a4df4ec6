/**
 * Spreads the requests of a listener that holds much for its peers over turns of the event loop. Many
 * large responses made in one turn would all be in memory together: the memory of those whose peers were
 * disconnected is free only after the turn. So a turn ends after a response that is left unread.
 */
export class CrowdedTurns {
  readonly #held: CrowdedBytes
  #waiting: (() => void)[] = []

  constructor(held: CrowdedBytes) {
    this.#held = held
  }

  /** Whether requests are handled at once, because little is held and none waits. */
  get isOpen(): boolean {
    return this.#waiting.length === 0 && !this.#held.isCrowded
  }

  /** Runs a function in a later turn, in the order of the calls. It must not throw. */
  defer(run: () => void): void {
    if (this.#waiting.push(run) === 1) setImmediate(this.#run)
  }

  readonly #run = (): void => {
    const waiting = this.#waiting.splice(0, maxPerTurn)
    const { added } = this.#held
    while (waiting.length > 0 && this.#held.added === added) waiting.shift()?.()
    this.#waiting.unshift(...waiting)
    if (this.#waiting.length > 0) setImmediate(this.#run)
  }
}

/** The bytes that a listener holds. */
interface CrowdedBytes {
  readonly added: number
  readonly isCrowded: boolean
}

/** Some responses are made after their turn, so that not all of their sizes are known in it. */
const maxPerTurn = 4
