/**
 * A request id. Integers outside the safe range arrive as `bigint`, so that they are echoed exactly.
 * `0` and `''` are ids: never test an id for truth. `1` and `'1'` are different ids.
 */
export type Id = string | number | bigint

/** The params of a call: by position or by name. */
export type Params = readonly unknown[] | Readonly<Record<string, unknown>>

/** The `error` member of a failure. */
export interface ErrorObject {
  /** The number that identifies the kind of error, such as -32602 for invalid params. */
  readonly code: number
  /** One line about the error, for people. */
  readonly message: string
  /** Further details that the sender of the error defines. */
  readonly data?: unknown
}

/** A call that expects a response. `id` is null only where null ids are allowed. */
export interface RpcRequest {
  /** Marks a request; the wire has no such member. */
  readonly type: 'request'
  /** Identifies the request; its response has the same id. An integer beyond 2^53 is a bigint. */
  readonly id: Id | null
  /** The name of the method. */
  readonly method: string
  /** The arguments, by name or by position. */
  readonly params?: Params
  /** The params with some members as raw JSON, for a proxy that only forwards them. */
  readonly raw?: Readonly<Record<string, unknown>>
}

/** A call that expects no response and never gets one. */
export interface RpcNotification {
  /** Marks a notification; the wire has no such member. */
  readonly type: 'notification'
  /** The name of the method. */
  readonly method: string
  /** The arguments, by name or by position. */
  readonly params?: Params
}

/** The response to a request that succeeded. */
export interface RpcResult {
  /** Marks a response with a result; the wire has no such member. */
  readonly type: 'result'
  /** The id of the request that is answered. */
  readonly id: Id | null
  /** The value that the method returned; any JSON. */
  readonly result: unknown
  /** The result with some members as raw JSON, for a proxy that only forwards it. */
  readonly raw?: Readonly<Record<string, unknown>>
}

/** The response to a request that failed; `id` is null if the id of the request could not be read. */
export interface RpcFailure {
  /** Marks an error response; the wire has no such member. */
  readonly type: 'error'
  /** The id of the request that failed; null if it could not be read. */
  readonly id: Id | null
  /** Whether the encoder leaves the id out, which is null. */
  readonly omitsId?: boolean
  /** What went wrong. */
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

/** Input that is not a valid message: a value, not an exception. `error` is sent to the sender. */
export interface Malformed {
  /** Marks input that is not a message. */
  readonly type: 'invalid'
  /** What is wrong with the input, as a word for programs. */
  readonly reason: Reason
  /** A description for logs; never sent to the peer. */
  readonly detail: string
  /** The id of the malformed request if it could be read, else null. */
  readonly id: Id | null
  /** The error to send to the sender. */
  readonly error: ErrorObject
  /** Whether the input was a reply: it gets no response, but the call it refers to fails. */
  readonly reply?: true
}

/** A message or malformed input: one entry of a batch. */
export type Entry = Message | Malformed

/** Messages that arrived as one batch, in order. Never empty. */
export interface Batch {
  /** Marks a batch; the wire has no such member. */
  readonly type: 'batch'
  /** The messages in the order of the batch, malformed ones included. */
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
