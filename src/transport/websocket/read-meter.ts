import { limits } from '../../util/limits/limits.ts'
import type { HeldBytes } from '../../util/sockets/held-bytes.ts'
import { IncomingBytes, type IncomingOwner } from '../../util/sockets/incoming-bytes.ts'

/** The connection whose input a ReadMeter measures. */
export interface ReadMeterOwner extends IncomingOwner {
  /** Enough was read in this turn of the event loop; others should be served first. */
  rest(): void
}

/**
 * Measures what is read from a WebSocket: how much `ws` holds of an incomplete message, and when reading
 * should rest. `ws` keeps each chunk as it is, so that a small one costs more than its bytes.
 */
export class ReadMeter {
  readonly #incoming: IncomingBytes | undefined
  readonly #maxBytes: number
  readonly #owner: ReadMeterOwner
  #heldBytes = 0
  #turnBytes = 0

  /**
   * `held` counts incomplete messages, which have up to `maxBytes`; without it, they are limited by their
   * size only.
   */
  constructor(held: HeldBytes | undefined, maxBytes: number, owner: ReadMeterOwner) {
    this.#incoming = held && new IncomingBytes(held, owner)
    this.#maxBytes = maxBytes
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
  }

  /** `ws` has parsed a chunk: what it holds now belongs to an incomplete message. */
  readonly parsed = (): void => this.#incoming?.set(this.#heldBytes, this.#maxBytes)

  /** A message is complete, or the connection has closed. */
  complete(): void {
    this.#incoming?.clear()
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
