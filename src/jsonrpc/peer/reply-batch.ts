import type { Message } from '../message.ts'

/**
 * Gathers the replies to one batch: in the order of its requests, sent together once the last one is
 * there, and not at all when nothing in it wanted an answer.
 */
export class Gathering {
  readonly #replies: (Message | undefined)[] = []
  readonly #send: (replies: readonly Message[]) => void
  #missing = 0
  #complete = false

  constructor(send: (replies: readonly Message[]) => void) {
    this.#send = send
  }

  /** Keeps a place for a reply, in the order of asking; returns its number. */
  expect(): number {
    this.#missing++
    return this.#replies.push(undefined) - 1
  }

  /** Puts a reply in its place. `undefined` gives the place up: that request stays unanswered. */
  put(place: number, reply: Message | undefined): void {
    this.#replies[place] = reply
    this.#missing--
    this.#sendIfWhole()
  }

  /** Tells that every place has been asked for. */
  complete(): void {
    this.#complete = true
    this.#sendIfWhole()
  }

  #sendIfWhole(): void {
    if (!this.#complete || this.#missing > 0) return
    const replies = this.#replies.filter(reply => reply !== undefined)
    if (replies.length > 0) this.#send(replies)
  }
}
