import type { ChannelError, Envelope } from '../../jsonrpc/channel.ts'
import {
  type Decoded,
  type Id,
  isList,
  type Message,
  type RpcFailure,
} from '../../jsonrpc/message.ts'
import type { Clock } from '../../util/time/clock.ts'
import { Leash } from './cancel-scope.ts'
import { statelessVersion } from './headers.ts'

/** Who gets what comes for requests. */
export interface Recipient {
  receive(arrival: Decoded, envelope: Envelope): void | Promise<void>
  failed(id: Id, error: ChannelError): void
}

/** One POST of requests, from when it is wanted until all of them have been answered. */
export class Posting {
  readonly message: Message | readonly Message[]
  readonly body: string
  readonly recipient: Recipient
  readonly leash: Leash
  /** The requests that have not been answered. */
  readonly waiting = new Set<Id>()
  /** The method of its only request; undefined for a batch. */
  readonly method: string | undefined
  /** Whether it speaks for itself, and leaving its answer cancels it. */
  readonly isStateless: boolean
  /** Whether it belongs to a session, which the server may have forgotten. */
  inSession = false
  /** Whether the server has begun to answer it, and not refused it. */
  isAnswered = false
  /** The refusal of headers that do not agree with the arguments, while something is done about it. */
  mismatch: RpcFailure | undefined
  /** Whether that has been tried before. */
  isRepeated = false

  constructor(
    message: Message | readonly Message[],
    body: string,
    recipient: Recipient,
    clock: Clock,
  ) {
    this.message = message
    this.body = body
    this.recipient = recipient
    this.leash = new Leash(clock)
    this.isStateless = statelessVersion(message) !== undefined
    this.method = !isList(message) && message.type === 'request' ? message.method : undefined
    for (const one of isList(message) ? message : [message]) {
      if (one.type === 'request' && one.id !== null) this.waiting.add(one.id)
    }
  }

  get isOpening(): boolean {
    return this.method === 'initialize'
  }

  /** Whether its answer is a stream of changes, which ends when nobody listens any more. */
  get isLasting(): boolean {
    return this.method === 'subscriptions/listen'
  }

  /** Whether nothing more is expected of its answer. */
  get isSettled(): boolean {
    return this.waiting.size === 0 || this.mismatch !== undefined
  }

  /** What it is called in errors. */
  get what(): string {
    return this.method ?? 'a batch'
  }
}

/** Whether a message wants an answer, or a batch holds one that does. */
export function wantsAnswer(message: Message | readonly Message[]): boolean {
  return isList(message) ? message.some(isRequest) : isRequest(message)
}

function isRequest({ type }: Message): boolean {
  return type === 'request'
}
