import type { RawRemote } from '../remote/connection.ts'
import {
  isStateAnswer,
  type LinkOperations,
  type StateChannel,
  type StateOperations,
  type StateReply,
  type StateRequest,
  stateError,
} from './protocol.ts'

/** All that can be asked for. */
type Operations = StateOperations & LinkOperations

/** Receives the messages of the channels to which a link has subscribed; without a text, some may be missing. */
export type OnNews = (channel: string, text: string | undefined) => void

/** Settles a request. */
type Settle = (reply: StateReply) => void

/** The number of links of this process, which all have numbers of their own. */
let count = 0

/** A link to the process that holds the state. It is never used again once a request failed on it. */
export class RawLink implements RawRemote {
  readonly #channel: StateChannel
  readonly #number = ++count
  readonly #waiting = new Map<number, Settle>()
  readonly #stopListening: () => void
  #requests = 0

  constructor(channel: StateChannel, onNews: OnNews) {
    this.#channel = channel
    this.#stopListening = channel.onMessage(message => {
      if (!isStateAnswer(message) || message.link !== this.#number) return
      if (message.type === 'state news') onNews(message.channel, message.text)
      else this.#settle(message)
    })
  }

  connect(): Promise<void> {
    return this.ask('hello', undefined)
  }

  destroy(): void {
    this.#stopListening()
    this.#waiting.clear()
    this.post('end')
  }

  /** Asks for an operation. Rejects with the BackplaneError of the other process. Settles never without a reply. */
  ask<Name extends keyof Operations>(
    operation: Name,
    ...args: Parameters<Operations[Name]>
  ): Promise<Awaited<ReturnType<Operations[Name]>>> {
    const id = ++this.#requests
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ value, error }) => {
        if (error !== undefined) reject(stateError(error))
        // The check: both processes run the same program, so this is the result of the operation.
        else resolve(value as Awaited<ReturnType<Operations[Name]>>)
      })
      this.#send({ type: 'state request', link: this.#number, id, operation, args })
    })
  }

  /** Asks for an operation that has no reply. */
  post<Name extends keyof LinkOperations>(
    operation: Name,
    ...args: Parameters<LinkOperations[Name]>
  ): void {
    this.#send({ type: 'state request', link: this.#number, operation, args })
  }

  #send(request: StateRequest): void {
    this.#channel.send(request)
  }

  #settle(reply: StateReply): void {
    const settle = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    settle?.(reply)
  }
}
