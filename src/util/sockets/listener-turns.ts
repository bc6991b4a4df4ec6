import { limits } from '../limits/limits.ts'

/**
 * Spreads the messages of a listener over turns of the event loop.
 *
 * Decoding many large messages in one turn would keep everything else waiting. And many large responses
 * made in one turn would all be in memory together: the memory of those whose peers were disconnected is
 * free only after the turn. So a turn ends after `listenerTurnBytes`, and, while much is held for peers,
 * after a response that is left unread.
 */
export class ListenerTurns {
  readonly #held: CrowdedBytes
  #waiting: Waiting[] = []
  #spent = 0

  constructor(held: CrowdedBytes) {
    this.#held = held
  }

  /** Whether a message is handled at once. If not, `defer` handles it in a later turn. */
  get isOpen(): boolean {
    return this.#waiting.length === 0 && !this.#held.isCrowded && !this.#isSpent
  }

  /** Counts a message that is handled in this turn. */
  spend(bytes: number): void {
    if (this.#spent === 0) setImmediate(this.#renew)
    this.#spent += Math.max(bytes, minBytes)
  }

  /** Handles a message in a later turn, in the order of the calls. `run` must not throw. */
  defer(bytes: number, run: () => void): void {
    if (this.#waiting.push({ bytes, run }) === 1) setImmediate(this.#run)
  }

  get #isSpent(): boolean {
    return this.#spent >= limits.listenerTurnBytes.default
  }

  readonly #renew = (): void => {
    this.#spent = 0
  }

  readonly #run = (): void => {
    const { added } = this.#held
    const max = this.#held.isCrowded ? maxCrowded : Number.POSITIVE_INFINITY
    let done = 0
    while (done < max && !this.#isSpent && this.#held.added === added) {
      const next = this.#waiting[done]
      if (next === undefined) break
      done++
      this.spend(next.bytes)
      next.run()
    }
    this.#waiting.splice(0, done)
    if (this.#waiting.length > 0) setImmediate(this.#run)
  }
}

/** The unread output of a listener. */
interface CrowdedBytes {
  readonly added: number
  readonly isCrowded: boolean
}

interface Waiting {
  readonly bytes: number
  readonly run: () => void
}

/** The time that a message takes at least, as the number of bytes that take as long to decode. */
const minBytes = 1024

/**
 * The most messages in one turn while much is held. Some responses are made after their turn, so that not
 * all of their sizes are known in it.
 */
const maxCrowded = 4
