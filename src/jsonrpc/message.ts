/**
 * A request id. Integers outside the safe range arrive as `bigint`, so that they are echoed exactly.
 * `0` and `''` are ids: never test an id for truth. `1` and `'1'` are different ids.
 */
export type Id = string | number | bigint

/** The params of a call: by position or by name. */
export type Params = readonly unknown[] | Readonly<Record<string, unknown>>

/** The `error` member of a failure. */
export interface ErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** A call that expects a response. `id` is null only where null ids are allowed. */
export interface RpcRequest {
  readonly type: 'request'
  readonly id: Id | null
  readonly method: string
  readonly params?: Params
  /** The params with some members as raw JSON, for a proxy that only forwards them. */
  readonly raw?: Readonly<Record<string, unknown>>
}

/** A call that expects no response and never gets one. */
export interface RpcNotification {
  readonly type: 'notification'
  readonly method: string
  readonly params?: Params
}

/** The response to a request that succeeded. */
export interface RpcResult {
  readonly type: 'result'
  readonly id: Id | null
  readonly result: unknown
  /** The result with some members as raw JSON, for a proxy that only forwards it. */
  readonly raw?: Readonly<Record<string, unknown>>
}

/** The response to a request that failed; `id` is null if the id of the request could not be read. */
export interface RpcFailure {
  readonly type: 'error'
  readonly id: Id | null
  /** Whether the encoder leaves the id out, which is null. */
  readonly omitsId?: boolean
  readonly error: ErrorObject
}

/** One message of JSON-RPC 2.0. The member `jsonrpc` exists only on the wire. */
export type Message = RpcRequest | RpcNotification | RpcResult | RpcFailure

/** Why input is malformed, in the order of the checks. */
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

/** Input that is no valid message: a value, not an exception. `error` is sent to the sender. */
export interface Malformed {
  readonly type: 'invalid'
  readonly reason: Reason
  /** A description for logs; never sent to the peer. */
  readonly detail: string
  /** The id of the malformed request if it could be read, else null. */
  readonly id: Id | null
  readonly error: ErrorObject
  /** Whether the input was a reply: it gets no response, but the call it refers to fails. */
  readonly reply?: true
}

/** A message or malformed input: one entry of a batch. */
export type Entry = Message | Malformed

/** Messages that arrived as one batch, in order. Never empty. */
export interface Batch {
  readonly type: 'batch'
  readonly entries: readonly Entry[]
}

/** The result of decoding a text. */
export type Decoded = Entry | Batch

/** Whether the argument is a batch. */
export function isList(message: Message | readonly Message[]): message is readonly Message[] {
  return Array.isArray(message)
}

/** Whether a method name is reserved by JSON-RPC, which are those that begin with `rpc.`. */
export function isReserved(method: string): boolean {
  return method.startsWith('rpc.')
}
