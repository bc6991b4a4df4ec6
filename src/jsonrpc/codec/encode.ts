import { type ErrorObject, type Id, isList, type Message } from '../message.ts'
import { OPEN_ARRAY, OPEN_OBJECT } from './char-codes.ts'
import { write } from './stringify.ts'

/**
 * Messages as text, written straight: the constant parts of the envelope around the JSON of what
 * varies. All of these throw a TypeError or RangeError for what is no JSON (cycles, bigint, nesting
 * beyond the stack), before anything has left.
 */
export function encode(message: Message | readonly Message[]): string {
  return isList(message) ? encodeBatch(message) : encodeOne(message)
}

export function encodeRequest(id: Id | null, method: string, params?: object): string {
  const head = `{"jsonrpc":"2.0","id":${idText(id)},"method":${quoted(method)}`
  return params === undefined ? `${head}}` : `${head},"params":${structure(params)}}`
}

export function encodeNotification(method: string, params?: object): string {
  const head = `{"jsonrpc":"2.0","method":${quoted(method)}`
  return params === undefined ? `${head}}` : `${head},"params":${structure(params)}}`
}

/** A result of undefined is written as null: the member must be there. */
export function encodeResult(id: Id | null, result: unknown): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${json(result)}}`
}

export function encodeError(id: Id | null, code: number, message: string, data?: unknown): string {
  if (!Number.isInteger(code)) throw new TypeError(`an error code is an integer, not ${code}`)
  if (typeof message !== 'string') throw new TypeError('the message of an error is a string')
  const head = `{"jsonrpc":"2.0","id":${idText(id)},"error":{"code":${code},"message":${JSON.stringify(message)}`
  return data === undefined ? `${head}}}` : `${head},"data":${json(data)}}}`
}

/** Throws a TypeError for no messages: an empty batch is no batch. */
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
        ? encodeNameless(message.error)
        : encodeFailure(message.id, message.error)
  }
}

function encodeFailure(id: Id | null, error: ErrorObject): string {
  return encodeError(id, error.code, error.message, error.data)
}

function encodeNameless(error: ErrorObject): string {
  return encodeFailure(null, error).replace('"id":null,', '')
}

function idText(id: Id | null): string {
  if (typeof id === 'number') {
    if (!Number.isFinite(id)) throw new TypeError(`an id is a string or a number, not ${id}`)
    return `${id}`
  }
  if (typeof id === 'string') return JSON.stringify(id)
  if (typeof id === 'bigint' || id === null) return `${id}`
  throw new TypeError(`an id is a string or a number, not ${typeof id}`)
}

function structure(params: object): string {
  if (typeof params !== 'object' || params === null) {
    throw new TypeError('params are an array or an object')
  }
  const isPlain = Object.getPrototypeOf(params) === Object.prototype && !('toJSON' in params)
  if (isPlain && isEmpty(params)) return '{}'
  const text = json(params)
  // Of a plain object it is known: looking into a text that was just put together copies all of it.
  if (isPlain) return text
  const first = text.charCodeAt(0)
  // A date, say, is an object that is written as a string.
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY)
    throw new TypeError('params are an array or an object')
  return text
}

/** Many calls have no arguments; telling is far cheaper than asking JSON.stringify. */
function isEmpty(value: object): boolean {
  for (const _ in value) return false
  return true
}

function json(value: unknown): string {
  // Functions and symbols have no JSON either, and give undefined rather than an error.
  return write(value) ?? 'null'
}

// Method names repeat: there are as many as the program knows, unless they come from outside, and
// then the table is thrown away before it grows.
const quotedNames = new Map<string, string>()
const QUOTED_NAMES = 1024

function quoted(method: string): string {
  const known = quotedNames.get(method)
  if (known !== undefined) return known
  if (typeof method !== 'string' || method === '') {
    throw new TypeError('a method is a string that is not empty')
  }
  const text = JSON.stringify(method)
  if (text.length !== method.length + 2) return text
  if (quotedNames.size >= QUOTED_NAMES) quotedNames.clear()
  // Not the name itself: a name cut out of a large message would keep that message alive.
  quotedNames.set(text.slice(1, -1), text)
  return text
}
