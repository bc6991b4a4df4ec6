import type { Id, Params, RpcNotification, RpcRequest, RpcResult } from '../message.ts'

/**
 * A value as the text that it came as: JSON that has been checked from its first to its last letter, and
 * holds no line feed. It is written as it is, by the writer of messages and by `JSON.stringify` alike.
 */
export class Written {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}

/**
 * What a member of params or of a result may be: a scalar or an object that is read at once, or an object
 * or array that may be left as its text.
 */
export type Keep = 'scalar' | 'read' | 'object' | 'array'

/** A member that may be there where some are left unread. */
export interface KeptMember {
  readonly name: string
  /** Its name as it is written, with everything before its value. */
  readonly head: string
  readonly keep: Keep
}

/** The only members that may be there, in the order in which they are likely to come. */
export type Kept = readonly KeptMember[]

/** Makes the list of them from their names, which are plain words. */
export function kept(members: Readonly<Record<string, Keep>>): Kept {
  return Object.entries(members).map(([name, keep]) => ({ name, head: `"${name}":`, keep }))
}

/** The params of such requests, by their methods. */
export type KeptCalls = ReadonlyMap<string, Kept>

export type Members = Readonly<Record<string, unknown>>

/**
 * A result of which some members have not been read: for whoever only passes them on, which takes half
 * the time then. Whoever asks for `result` gets all of it as `JSON.parse` would have given it.
 */
export class WrittenResult implements RpcResult {
  readonly type = 'result'
  readonly id: Id
  /** The result, where what was not read is a `Written`. */
  readonly written: Members

  constructor(id: Id, written: Members) {
    this.id = id
    this.written = written
  }

  get result(): Members {
    return asRead(this.written)
  }
}

/** The same of a request and its params. */
export class WrittenRequest implements RpcRequest {
  readonly type = 'request'
  readonly id: Id
  readonly method: string
  readonly written: Members

  constructor(id: Id, method: string, written: Members) {
    this.id = id
    this.method = method
    this.written = written
  }

  get params(): Members {
    return asRead(this.written)
  }
}

/** The same members with everything read, as `JSON.parse` would have given it; those given where it is. */
export function asRead(members: Members): Members {
  let read: Record<string, unknown> | undefined
  for (const key in members) {
    const value = members[key]
    if (!(value instanceof Written)) continue
    read ??= { ...members }
    read[key] = value.toJSON()
  }
  return read ?? members
}

/** A value of which it is not known whether it has been read. */
export function readValue(value: unknown): unknown {
  return value instanceof Written ? value.toJSON() : value
}

/** The params of a message, in which some may be a `Written`: reading those takes what was to be spared. */
export function unreadParams(message: RpcRequest | RpcNotification): Params | undefined {
  return (message.type === 'request' ? message.written : undefined) ?? message.params
}

/** A message as whoever knows nothing of this may take it apart, with all of it read. */
export function wholeMessage<M extends RpcRequest | RpcNotification>(message: M): M | RpcRequest {
  if (message.type === 'notification' || message.written === undefined) return message
  const { type, id, method, params } = message
  return { type, id, method, params }
}
