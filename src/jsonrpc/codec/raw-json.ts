import { setMember } from '../../util/objects.ts'
import type { Id, Params, RpcNotification, RpcRequest, RpcResult } from '../message.ts'

/**
 * A JSON value that was kept as its source text instead of being parsed. The text is valid JSON and
 * contains no line feed. `encode` writes it unchanged; `JSON.stringify` parses it first (`toJSON`).
 */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}

/**
 * How a member of params or of a result is decoded: a scalar, an object that is parsed at once, or an
 * object or array that stays raw JSON.
 */
export type RawMemberKind = 'scalar' | 'parsed' | 'object' | 'array'

/** One member of a RawShape. */
export interface RawMember {
  /** The name of the member. */
  readonly name: string
  /** The name with quotes and colon, as it appears in compact JSON. */
  readonly head: string
  /** How it is decoded. */
  readonly kind: RawMemberKind
}

/**
 * The members that an object with raw members can have, in their most likely order. With any other
 * member it is parsed.
 */
export type RawShape = readonly RawMember[]

/** Makes a RawShape from member names, which must need no escapes in JSON. */
export function rawShape(members: Readonly<Record<string, RawMemberKind>>): RawShape {
  return Object.entries(members).map(([name, kind]) => ({ name, head: `"${name}":`, kind }))
}

/** The RawShape of the params, by request method. */
export type RawCalls = ReadonlyMap<string, RawShape>

/** An object whose members can be RawJson. */
export type RawObject = Readonly<Record<string, unknown>>

/**
 * A result with raw members, which a proxy forwards in half the time. Reading `result` parses all of
 * it, as `JSON.parse` would have.
 */
export class RawResult implements RpcResult {
  readonly type = 'result'
  readonly id: Id
  /** The result, in which members can be RawJson. */
  readonly raw: RawObject

  constructor(id: Id, raw: RawObject) {
    this.id = id
    this.raw = raw
  }

  get result(): RawObject {
    return parseRaw(this.raw)
  }
}

/** A request whose params have raw members. Reading `params` parses all of them. */
export class RawRequest implements RpcRequest {
  readonly type = 'request'
  readonly id: Id
  readonly method: string
  readonly raw: RawObject

  constructor(id: Id, method: string, raw: RawObject) {
    this.id = id
    this.method = method
    this.raw = raw
  }

  get params(): RawObject {
    return parseRaw(this.raw)
  }
}

/** Returns the members with all RawJson parsed; the same object if there is none. */
export function parseRaw(members: RawObject): RawObject {
  let read: Record<string, unknown> | undefined
  for (const key in members) {
    const value = members[key]
    if (!(value instanceof RawJson)) continue
    read ??= { ...members }
    setMember(read, key, value.toJSON())
  }
  return read ?? members
}

/** Returns the parsed value of a RawJson, and any other value unchanged. */
export function parseRawValue(value: unknown): unknown {
  return value instanceof RawJson ? value.toJSON() : value
}

/** Returns the params of a message without parsing raw members: they can be RawJson. */
export function rawParams(message: RpcRequest | RpcNotification): Params | undefined {
  return (message.type === 'request' ? message.raw : undefined) ?? message.params
}

/**
 * Returns the message with plain members and all params parsed, for code that cannot handle raw JSON.
 */
export function parsedMessage<M extends RpcRequest | RpcNotification>(message: M): M | RpcRequest {
  if (message.type === 'notification' || message.raw === undefined) return message
  const { type, id, method, params } = message
  return { type, id, method, params }
}
