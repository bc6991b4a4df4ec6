import { limits } from '../../util/limits/limits.ts'
import type { HeldBytes, Holding } from '../../util/sockets/held-bytes.ts'

/** The connection whose input a ReadMeter measures. */
export interface ReadMeterOwner {
  /** Enough was read in this turn of the event loop; others should be served first. */
  rest(): void
  /** There is no room for more of the incomplete message. Can be called again. */
  noRoom(): void
}

/**
 * Measures what is read from a WebSocket: how much `ws` holds of an incomplete message, and when reading
 * should rest. `ws` keeps each chunk as it is, so that a small one costs more than its bytes.
 */
export class ReadMeter {
  readonly #holding: Holding | undefined
  readonly #owner: ReadMeterOwner
  #heldBytes = 0
  #turnBytes = 0

  /** `held` counts incomplete messages; without it, they are limited by their size only. */
  constructor(held: HeldBytes | undefined, owner: ReadMeterOwner) {
    this.#holding = held?.hold()
    this.#owner = owner
  }

  /** A chunk was read; called before `ws` parses it. */
  readonly chunk = (chunk: Buffer): void => {
    this.#heldBytes += Math.max(chunk.length, chunkCost)
    this.#turnBytes += chunk.length
    if (this.#turnBytes >= limits.turnBytes.default) {
      this.#turnBytes = 0
      this.#owner.rest()
    }
    if (this.#holding?.trySet(this.#heldBytes) === false) this.#owner.noRoom()
  }

  /** A message is complete, or the connection has closed. */
  complete(): void {
    if (this.#heldBytes > limits.uncountedBytes.default) this.#holding?.set(0)
    this.#heldBytes = 0
  }

  /** A ping or pong was read. It is not kept, and can come within a message. */
  control(data: Buffer): void {
    this.#heldBytes = Math.max(0, this.#heldBytes - data.length - headBytes)
  }
}

/** The memory that ws needs at least for a chunk of an incomplete message. */
const chunkCost = 256

/** The head of a short frame of a client. */
const headBytes = 6
