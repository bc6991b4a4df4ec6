import type { Message } from '../message.ts'

/**
 * Collects the replies to a batch in the order of its requests and sends them together once the last
 * one is there. Sends nothing if no entry of the batch gets a reply.
 */
export class ReplyBatch {
  readonly #replies: (Message | undefined)[] = []
  readonly #send: (replies: readonly Message[]) => void
  #missing = 0
  #complete = false

  constructor(send: (replies: readonly Message[]) => void) {
    this.#send = send
  }

  /** Reserves the next slot for a reply; returns its index. */
  expect(): number {
    this.#missing++
    return this.#replies.push(undefined) - 1
  }

  /** Fills a slot. `undefined` releases it: that request stays unanswered. */
  put(slot: number, reply: Message | undefined): void {
    this.#replies[slot] = reply
    this.#missing--
    this.#sendIfComplete()
  }

  /** Marks the batch as complete: every slot has been reserved. */
  complete(): void {
    this.#complete = true
    this.#sendIfComplete()
  }

  #sendIfComplete(): void {
    if (!this.#complete || this.#missing > 0) return
    const replies = this.#replies.filter(reply => reply !== undefined)
    if (replies.length > 0) this.#send(replies)
  }
}
