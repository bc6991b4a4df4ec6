import type { Envelope } from '../channel.ts'
import type { Calls, Exchange } from '../handler.ts'
import type { Message, RpcNotification, RpcRequest } from '../message.ts'

/** Sends a notification on the stream that the envelope identifies. */
type Notify = (
  method: string,
  params: object | undefined,
  envelope: Envelope,
) => void | Promise<void>

/** Sends the reply to one request; undefined if the request stays unanswered. */
export type Reply = (reply: Message | undefined, envelope: Envelope) => void

/** The parts of a peer that its exchanges send through. */
export interface ReplyPath {
  readonly calls: Calls
  /** Makes calls on the stream that the envelope identifies. */
  readonly callsOn: (envelope: Envelope) => Calls
  readonly notify: Notify
}

/**
 * An incoming message of a Peer while it is handled. The abort controller is created on the first
 * access to `signal`, because most handlers never need it.
 */
export class PeerExchange<M extends RpcRequest | RpcNotification> implements Exchange {
  readonly message: M
  readonly envelope: Envelope
  readonly reply: Reply
  readonly #path: ReplyPath
  /** Whether the response has been sent, or none will be. */
  settled = false
  /** The memory that the request takes of the budget of its channel. */
  cost = 0
  #controller: AbortController | undefined
  #afterReply: (() => void) | undefined
  #onAbort: ((reason: unknown) => void) | undefined
  #reason: unknown
  #aborted = false

  constructor(message: M, envelope: Envelope, path: ReplyPath, reply: Reply) {
    this.message = message
    this.envelope = envelope
    this.#path = path
    this.reply = reply
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#aborted) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  onAbort(run: (reason: unknown) => void): void {
    if (this.#aborted) run(this.#reason)
    else this.#onAbort = both(this.#onAbort, run)
  }

  get acceptsRaw(): boolean {
    return this.envelope.acceptsRaw === true
  }

  get back(): Calls {
    const { calls, callsOn } = this.#path
    return this.envelope.about === undefined ? calls : callsOn(this.envelope)
  }

  /** Bound on access, so that a handler can destructure it from the exchange. */
  get notify(): Exchange['notify'] {
    return (method, params) => this.#path.notify(method, params, this.envelope)
  }

  afterReply(run: () => void): void {
    this.#afterReply = run
  }

  /** Sends the reply; undefined means that there will be none. */
  settle(reply: Message | undefined): void {
    this.settled = true
    this.reply(reply, this.envelope)
    if (reply !== undefined) this.#afterReply?.()
  }

  /** Aborts the exchange with a reason. Idempotent. */
  abort(reason: unknown): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#reason = reason
    this.#controller?.abort(reason)
    this.#onAbort?.(reason)
  }
}

/** Combines two callbacks into one; nearly always there is only one. */
export function both(
  first: ((reason: unknown) => void) | undefined,
  second: (reason: unknown) => void,
): (reason: unknown) => void {
  if (first === undefined) return second
  return reason => {
    first(reason)
    second(reason)
  }
}
