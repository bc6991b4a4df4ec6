import { isRecord } from '../../util/objects.ts'
import { BackplaneError, type BackplaneErrorCode } from '../backplane-error.ts'
import type { SharedLog } from '../log.ts'
import type { Membership } from '../membership.ts'
import type { RecordOwner, RecordStore } from '../record-store.ts'
import type { SharedRates } from '../shared-rates.ts'

/** Messages between a process that holds state and one that uses it. Values arrive as structured clones. */
export interface StateChannel {
  /** Sends a message. Never throws: a channel that has ended loses it. */
  send(message: object): void
  /** Calls the listener with every message that arrives. Returns a function that removes the listener. */
  onMessage(listener: (message: unknown) => void): () => void
}

/** The operations that a process asks for, by name. */
export interface StateOperations
  extends Membership,
    Omit<RecordStore, 'names' | 'delete'>,
    SharedRates,
    Omit<SharedLog, 'delete'> {
  readonly deleteRecord: RecordStore['delete']
  readonly deleteLog: SharedLog['delete']
  /** Returns all pages at once. */
  names(set: string): Promise<readonly (readonly string[])[]>
}

/** What concerns a link itself, and its messages. Only `hello` and `subscribe` have a reply. */
export interface LinkOperations {
  /** Shows that the other process runs, and that the channel keeps `undefined`, which JSON does not. */
  hello(nothing: undefined): Promise<void>
  subscribe(channel: string): Promise<void>
  unsubscribe(channel: string): void
  publish(channel: string, text: string): void
  /** Messages that this process published got lost, so subscribers everywhere must know. */
  reportGap(): void
  /** Ends the link with all its subscriptions. */
  end(): void
}

/** A request of a process. A link is one user of the state; a channel carries any number of them. */
export interface StateRequest {
  readonly type: 'state request'
  readonly link: number
  /** Undefined if there is no reply. */
  readonly id?: number
  readonly operation: keyof StateOperations | keyof LinkOperations
  readonly args: readonly unknown[]
}

/** The result of a request. */
export interface StateReply {
  readonly type: 'state reply'
  readonly link: number
  readonly id: number
  readonly value?: unknown
  readonly error?: StateFailure
}

/** A message of a channel to which a link has subscribed. */
export interface StateNews {
  readonly type: 'state news'
  readonly link: number
  readonly channel: string
  /** Undefined if messages may be missing. */
  readonly text?: string
}

interface StateFailure {
  readonly code: BackplaneErrorCode | undefined
  readonly message: string
  readonly owner?: RecordOwner
}

/** What to do about a channel that changes messages. */
export const serializationAdvice =
  "the channel between the processes changes messages: start the child with `serialization: 'advanced'`"

/** Whether a message is a request for state. */
export function isStateRequest(message: unknown): message is StateRequest {
  return isRecord(message) && message.type === 'state request'
}

/** Whether a message is for a user of state. */
export function isStateAnswer(message: unknown): message is StateReply | StateNews {
  return isRecord(message) && (message.type === 'state reply' || message.type === 'state news')
}

/** Returns an error as it is sent. */
export function stateFailure(error: unknown): StateFailure {
  if (error instanceof BackplaneError) {
    const { code, message, owner } = error
    return { code, message, ...(owner && { owner }) }
  }
  return { code: undefined, message: error instanceof Error ? error.message : String(error) }
}

/** Returns the error that was sent. */
export function stateError({ code = 'unknown', message, owner }: StateFailure): BackplaneError {
  return new BackplaneError(code, message, owner && { owner })
}
