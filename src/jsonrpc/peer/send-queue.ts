import type { Channel, Envelope } from '../channel.ts'
import type { Message } from '../message.ts'

/** Whoever wants a message sent. */
export interface Sender {
  /** Asked right before it leaves; false takes it back. */
  begins?(): boolean
  /** It did not leave, and will not. */
  failed(
    error: unknown,
    message: Message | readonly Message[],
    envelope: Envelope | undefined,
  ): void
}

interface Waiting {
  readonly message: Message | readonly Message[]
  readonly envelope: Envelope | undefined
  readonly sender: Sender
}

/**
 * Hands messages to a channel in order, and no faster than it takes them: while it asks to wait, they
 * wait here. How many can wait is bounded by whoever sends: calls and requests in flight have limits.
 */
export class Sending {
  readonly #channel: Channel
  readonly #onRelief: () => void
  readonly #queue: Waiting[] = []
  #isCongested = false

  /** `onRelief` is called when everything that waited has left. */
  constructor(channel: Channel, onRelief: () => void) {
    this.#channel = channel
    this.#onRelief = onRelief
  }

  /** Whether the channel has asked to wait. */
  get isCongested(): boolean {
    return this.#isCongested
  }

  /** Messages that have not left. */
  get waiting(): number {
    return this.#queue.length
  }

  /** Sends a message as soon as there is room. */
  send(
    message: Message | readonly Message[],
    envelope: Envelope | undefined,
    sender: Sender,
  ): void {
    if (this.#isCongested) this.#queue.push({ message, envelope, sender })
    else this.#hand(message, envelope, sender)
  }

  #hand(
    message: Message | readonly Message[],
    envelope: Envelope | undefined,
    sender: Sender,
  ): void {
    if (sender.begins?.() === false) return
    try {
      const room = this.#channel.send(message, envelope)
      if (room !== undefined) this.#wait(room)
    } catch (error) {
      sender.failed(error, message, envelope)
    }
  }

  #wait(room: Promise<void>): void {
    this.#isCongested = true
    const relieved = (): void => {
      this.#isCongested = false
      // A channel that has closed refuses what is left, and each of it is told.
      while (!this.#isCongested) {
        const next = this.#queue.shift()
        if (next === undefined) break
        this.#hand(next.message, next.envelope, next.sender)
      }
      if (!this.#isCongested) this.#onRelief()
    }
    room.then(relieved, relieved)
  }
}
