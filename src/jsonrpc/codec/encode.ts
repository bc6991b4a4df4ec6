import { ChannelError } from '../channel.ts'
import { type ErrorObject, type Id, isList, type Message } from '../message.ts'
import { OPEN_ARRAY, OPEN_OBJECT } from './char-codes.ts'
import { stringify } from './stringify.ts'

/**
 * Encodes a message, or an array of messages as a batch. Throws a TypeError or RangeError for a value
 * that is not JSON (a cycle, a bigint, nesting beyond the stack), as all encode functions do.
 */
export function encode(message: Message | readonly Message[]): string {
  return isList(message) ? encodeBatch(message) : encodeOne(message)
}

/**
 * Encodes a message for `Channel.send`. Throws a ChannelError `'unserialisable'` for a value that is no
 * JSON, and a TypeError for an empty batch, which is a mistake of the caller.
 */
export function encodeForSend(message: Message | readonly Message[]): string {
  if (Array.isArray(message) && message.length === 0) {
    throw new TypeError('a batch needs at least one message')
  }
  try {
    return encode(message)
  } catch (cause) {
    throw new ChannelError('unserialisable', 'sending: the message is not JSON', { cause })
  }
}

/** Encodes a request. */
export function encodeRequest(id: Id | null, method: string, params?: object): string {
  const head = `{"jsonrpc":"2.0","id":${idText(id)},"method":${quoted(method)}`
  return params === undefined ? `${head}}` : `${head},"params":${structure(params)}}`
}

/** Encodes a notification. */
export function encodeNotification(method: string, params?: object): string {
  const head = `{"jsonrpc":"2.0","method":${quoted(method)}`
  return params === undefined ? `${head}}` : `${head},"params":${structure(params)}}`
}

/** Encodes a result. Undefined is encoded as null, because the member is required. */
export function encodeResult(id: Id | null, result: unknown): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${json(result)}}`
}

/** Encodes an error response; `data` is left out if it is undefined. */
export function encodeError(id: Id | null, code: number, message: string, data?: unknown): string {
  if (!Number.isInteger(code)) throw new TypeError(`an error code must be an integer (got ${code})`)
  if (typeof message !== 'string') throw new TypeError('an error message must be a string')
  const head = `{"jsonrpc":"2.0","id":${idText(id)},"error":{"code":${code},"message":${JSON.stringify(message)}`
  return data === undefined ? `${head}}}` : `${head},"data":${json(data)}}}`
}

/** Encodes a batch. Throws a TypeError for an empty array, which JSON-RPC does not allow. */
export function encodeBatch(messages: readonly Message[]): string {
  if (messages.length === 0) throw new TypeError('a batch needs at least one message')
  let text = '['
  for (let i = 0; i < messages.length; i++) {
    if (i > 0) text += ','
    // The check: i is below length.
    text += encodeOne(messages[i] as Message)
  }
  return `${text}]`
}

function encodeOne(message: Message): string {
  switch (message.type) {
    case 'request':
      return encodeRequest(message.id, message.method, message.params)
    case 'notification':
      return encodeNotification(message.method, message.params)
    case 'result':
      return encodeResult(message.id, message.result)
    case 'error':
      return message.omitsId === true && message.id === null
        ? encodeWithoutId(message.error)
        : encodeFailure(message.id, message.error)
  }
}

function encodeFailure(id: Id | null, error: ErrorObject): string {
  return encodeError(id, error.code, error.message, error.data)
}

function encodeWithoutId(error: ErrorObject): string {
  return encodeFailure(null, error).replace('"id":null,', '')
}

function idText(id: Id | null): string {
  if (typeof id === 'number') {
    if (!Number.isFinite(id))
      throw new TypeError(`an id must be a string or a finite number (got ${id})`)
    return `${id}`
  }
  if (typeof id === 'string') return JSON.stringify(id)
  if (typeof id === 'bigint' || id === null) return `${id}`
  throw new TypeError(`an id must be a string or a number (got ${typeof id})`)
}

function structure(params: object): string {
  if (typeof params !== 'object' || params === null) {
    throw new TypeError('params must be an array or an object')
  }
  const isPlain = Object.getPrototypeOf(params) === Object.prototype && !('toJSON' in params)
  if (isPlain && isEmpty(params)) return '{}'
  const text = json(params)
  // A plain object needs no check, and reading a character of a text that was just concatenated would
  // copy it.
  if (isPlain) return text
  const first = text.charCodeAt(0)
  // A Date, for example, is an object that is encoded as a string.
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY)
    throw new TypeError('params must be an array or an object')
  return text
}

/** Many calls have no arguments, and this check is far cheaper than JSON.stringify. */
function isEmpty(value: object): boolean {
  for (const _ in value) return false
  return true
}

function json(value: unknown): string {
  // Functions and symbols have no JSON, and give undefined instead of an error.
  return stringify(value) ?? 'null'
}

// Method names repeat, so their JSON is cached. Names from outside are unbounded, so the cache is
// cleared when it is full.
const quotedNames = new Map<string, string>()
const QUOTED_NAMES = 1024

function quoted(method: string): string {
  const known = quotedNames.get(method)
  if (known !== undefined) return known
  if (typeof method !== 'string' || method === '') {
    throw new TypeError('a method must be a non-empty string')
  }
  const text = JSON.stringify(method)
  if (text.length !== method.length + 2) return text
  if (quotedNames.size >= QUOTED_NAMES) quotedNames.clear()
  // Not the name itself as the key: a slice of a large message would keep that message alive.
  quotedNames.set(text.slice(1, -1), text)
  return text
}
