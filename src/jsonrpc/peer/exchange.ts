import type { Envelope } from '../channel.ts'
import type { Calls, Exchange } from '../handler.ts'
import type { Message, RpcNotification, RpcRequest } from '../message.ts'

/** Sends a notification on the path that the envelope names. */
type Notify = (
  method: string,
  params: object | undefined,
  envelope: Envelope,
) => void | Promise<void>

/** Takes the reply to one request; undefined when it is not going to be answered. */
export type Reply = (reply: Message | undefined, envelope: Envelope) => void

/** What a peer lends to each of its exchanges. */
export interface WayBack {
  readonly calls: Calls
  /** The same, on the path that the envelope names. */
  readonly callsOn: (envelope: Envelope) => Calls
  readonly notify: Notify
}

/**
 * One inbound message while it is being answered. The abort controller is made when somebody first
 * looks at the signal: most handlers never do.
 */
export class Answering<M extends RpcRequest | RpcNotification> implements Exchange {
  readonly message: M
  readonly envelope: Envelope
  readonly reply: Reply
  readonly #way: WayBack
  /** Whether the sender has been answered, or is not going to be. */
  settled = false
  #controller: AbortController | undefined
  #afterReply: (() => void) | undefined
  #onAbort: ((reason: unknown) => void) | undefined
  #reason: unknown
  #aborted = false

  constructor(message: M, envelope: Envelope, way: WayBack, reply: Reply) {
    this.message = message
    this.envelope = envelope
    this.#way = way
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

  get takesWritten(): boolean {
    return this.envelope.takesWritten === true
  }

  get back(): Calls {
    const { calls, callsOn } = this.#way
    return this.envelope.about === undefined ? calls : callsOn(this.envelope)
  }

  /** Made on demand and bound, so that a handler may take it out of the exchange. */
  get notify(): Exchange['notify'] {
    return (method, params) => this.#way.notify(method, params, this.envelope)
  }

  afterReply(run: () => void): void {
    this.#afterReply = run
  }

  /** Gives the reply, or with undefined says that there will be none. */
  settle(reply: Message | undefined): void {
    this.settled = true
    this.reply(reply, this.envelope)
    if (reply !== undefined) this.#afterReply?.()
  }

  abort(reason: unknown): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#reason = reason
    this.#controller?.abort(reason)
    this.#onAbort?.(reason)
  }
}

/** Of two that want to hear of it, each does; nearly always there is but one. */
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
