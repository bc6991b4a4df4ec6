/**
 * A request id. Integers outside the safe range arrive as `bigint`, so that they go back exactly as
 * they came. `0` and `''` are ids: never test one for truth. `1` and `'1'` are two different ids.
 */
export type Id = string | number | bigint

/** Params as they arrive: by position or by name. */
export type Params = readonly unknown[] | Readonly<Record<string, unknown>>

/** The `error` member of a failure. */
export interface ErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** A call that wants an answer. `id` is null only where the null id is allowed. */
export interface RpcRequest {
  readonly type: 'request'
  readonly id: Id | null
  readonly method: string
  readonly params?: Params
  /** The params with some of their members left as text, for whoever only passes them on. */
  readonly written?: Readonly<Record<string, unknown>>
}

/** A call that wants no answer and never gets one. */
export interface RpcNotification {
  readonly type: 'notification'
  readonly method: string
  readonly params?: Params
}

/** The answer of a request that worked. */
export interface RpcResult {
  readonly type: 'result'
  readonly id: Id | null
  readonly result: unknown
  /** The same with some of its members left as text, for whoever only passes it on. */
  readonly written?: Readonly<Record<string, unknown>>
}

/** The answer of a request that did not; `id` is null when the request's own could not be read. */
export interface RpcFailure {
  readonly type: 'error'
  readonly id: Id | null
  /** Whether the id, which is null, is left out where it is written. */
  readonly omitsId?: boolean
  readonly error: ErrorObject
}

/** One message of JSON-RPC 2.0. The member `jsonrpc` exists only on the wire. */
export type Message = RpcRequest | RpcNotification | RpcResult | RpcFailure

/** What may be wrong with a text, in the order in which it is found out. */
export type Reason =
  | 'too-large'
  | 'encoding'
  | 'depth'
  | 'nodes'
  | 'json'
  | 'not-object'
  | 'empty-batch'
  | 'batch-too-large'
  | 'duplicate-member'
  | 'version'
  | 'type'
  | 'id'
  | 'method'
  | 'result'
  | 'error'
  | 'params'

/** Text that is no message: a value, not an exception. `error` is what the sender is told. */
export interface Malformed {
  readonly type: 'invalid'
  readonly reason: Reason
  /** The finding in words, for logs; it does not cross the wire. */
  readonly detail: string
  /** The id of the broken request where it could be read, else null. */
  readonly id: Id | null
  readonly error: ErrorObject
  /** It came as a reply: nobody answers it, but the call it names has failed. */
  readonly reply?: true
}

export type Entry = Message | Malformed

/** Several messages that arrived together, in order. Never empty. */
export interface Batch {
  readonly type: 'batch'
  readonly entries: readonly Entry[]
}

/** Everything a text can turn out to be. */
export type Decoded = Entry | Batch

/** Whether several messages are to travel as one batch. */
export function isList(message: Message | readonly Message[]): message is readonly Message[] {
  return Array.isArray(message)
}

/** Names beginning with `rpc.` belong to JSON-RPC itself. */
export function isReserved(method: string): boolean {
  return method.startsWith('rpc.')
}
