import type { ChannelError, Envelope } from '../../jsonrpc/channel.ts'
import {
  type Decoded,
  type Id,
  isList,
  type Message,
  type RpcFailure,
} from '../../jsonrpc/message.ts'
import type { Clock } from '../../util/time/clock.ts'
import { CancelScope } from './cancel-scope.ts'
import { statelessVersion } from './headers.ts'

/** Receives the replies to requests, and their failures. */
export interface Recipient {
  receive(arrival: Decoded, envelope: Envelope): void | Promise<void>
  failed(id: Id, error: ChannelError): void
}

/** One POST of requests, from the time it is queued until all of them have a reply. */
export class PendingPost {
  readonly message: Message | readonly Message[]
  readonly body: string
  readonly recipient: Recipient
  readonly scope: CancelScope
  /** The requests without a reply. */
  readonly waiting = new Set<Id>()
  /** The method of the only request; undefined for a batch. */
  readonly method: string | undefined
  /** Whether the request is stateless, so that disconnecting from its response cancels it. */
  readonly isStateless: boolean
  /** Whether the request was sent in a session, which the server may have forgotten. */
  inSession = false
  /** The error that the headers do not match the arguments, while the call is about to be repeated. */
  mismatch: RpcFailure | undefined
  /** Whether the call has been repeated already. */
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
    this.scope = new CancelScope(clock)
    this.isStateless = statelessVersion(message) !== undefined
    this.method = !isList(message) && message.type === 'request' ? message.method : undefined
    for (const one of isList(message) ? message : [message]) {
      if (one.type === 'request' && one.id !== null) this.waiting.add(one.id)
    }
  }

  get isInitialize(): boolean {
    return this.method === 'initialize'
  }

  /** Whether the response is a stream of changes, which lasts for as long as the client listens. */
  get isLongLived(): boolean {
    return this.method === 'subscriptions/listen'
  }

  /** Whether nothing more is expected in the response. */
  get isSettled(): boolean {
    return this.waiting.size === 0 || this.mismatch !== undefined
  }

  /** The name of the POST in error messages. */
  get what(): string {
    return this.method ?? 'a batch'
  }
}

/** Whether a message is a request, or a batch contains one. */
export function hasRequest(message: Message | readonly Message[]): boolean {
  return isList(message) ? message.some(isRequest) : isRequest(message)
}

function isRequest({ type }: Message): boolean {
  return type === 'request'
}
