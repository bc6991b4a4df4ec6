import type { Channel, Envelope } from '../channel.ts'
import type { Message } from '../message.ts'

/** Follows the sending of a message. */
export interface SendHandler {
  /** Called right before the message is handed to the channel; false withdraws it. */
  beforeSend?(): boolean
  /** The message was not sent and will not be. */
  sendFailed(
    error: unknown,
    message: Message | readonly Message[],
    envelope: Envelope | undefined,
  ): void
}

interface QueuedMessage {
  readonly message: Message | readonly Message[]
  readonly envelope: Envelope | undefined
  readonly handler: SendHandler
}

/**
 * Hands messages to a channel in order and respects its backpressure: while the channel is congested,
 * messages are queued here. The callers bound the queue: calls and requests in flight have limits.
 */
export class SendQueue {
  readonly #channel: Channel
  readonly #onDrain: () => void
  readonly #queue: QueuedMessage[] = []
  #isCongested = false

  /** `onDrain` is called when every queued message has been handed to the channel. */
  constructor(channel: Channel, onDrain: () => void) {
    this.#channel = channel
    this.#onDrain = onDrain
  }

  /** Whether the channel applies backpressure. */
  get isCongested(): boolean {
    return this.#isCongested
  }

  /** The number of queued messages. */
  get size(): number {
    return this.#queue.length
  }

  /** Sends a message now, or queues it while the channel is congested. */
  send(
    message: Message | readonly Message[],
    envelope: Envelope | undefined,
    handler: SendHandler,
  ): void {
    if (this.#isCongested) this.#queue.push({ message, envelope, handler })
    else this.#handOver(message, envelope, handler)
  }

  #handOver(
    message: Message | readonly Message[],
    envelope: Envelope | undefined,
    handler: SendHandler,
  ): void {
    if (handler.beforeSend?.() === false) return
    try {
      const drained = this.#channel.send(message, envelope)
      if (drained !== undefined) this.#wait(drained)
    } catch (error) {
      handler.sendFailed(error, message, envelope)
    }
  }

  #wait(drained: Promise<void>): void {
    this.#isCongested = true
    const resume = (): void => {
      this.#isCongested = false
      // A channel that has closed rejects the rest, and each handler is notified.
      while (!this.#isCongested) {
        const next = this.#queue.shift()
        if (next === undefined) break
        this.#handOver(next.message, next.envelope, next.handler)
      }
      if (!this.#isCongested) this.#onDrain()
    }
    drained.then(resume, resume)
  }
}
