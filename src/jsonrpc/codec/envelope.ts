import type { Entry, ErrorObject, Id, Malformed, Params, Reason } from '../message.ts'
import type { DecodeRules } from './decode-rules.ts'
import { detached } from './detach.ts'
import { invalidReply, invalidRequest, notJson } from './malformed.ts'
import { type EnvelopeMembers, seen } from './scan.ts'

/**
 * Makes a message from the envelope members that a scan has found, or the value for the first problem,
 * in this order: JSON, version, type, required members, params.
 */
export function readEnvelope(text: string, found: EnvelopeMembers, rules: DecodeRules): Entry {
  let values: Values
  try {
    values = parse(text, found)
  } catch (cause) {
    return notJson(cause instanceof Error ? cause.message : 'no JSON')
  }
  const isReply = (found.seen & seen.method) === 0 && (found.seen & REPLY) !== 0
  const id = found.duplicates & seen.id ? undefined : readId(values.id, values.idText, rules)
  const refuse = (reason: Reason, detail: string): Malformed =>
    (isReply ? invalidReply : invalidRequest)(reason, detail, id ?? null)

  if (found.duplicates !== 0)
    return refuse('duplicate-member', `duplicate member ${names(found.duplicates)}`)
  if ((found.seen & seen.jsonrpc) === 0) return refuse('version', 'jsonrpc is missing')
  if (values.jsonrpc !== '2.0') return refuse('version', 'jsonrpc is not "2.0"')
  if ((found.seen & seen.method) !== 0) {
    if ((found.seen & REPLY) !== 0) return refuse('type', 'both a call and a reply')
    return readCall(values, found, id, rules, refuse)
  }
  if ((found.seen & REPLY) === REPLY) return refuse('type', 'both result and error')
  if (!isReply) return refuse('type', 'neither method nor result nor error')
  return readReply(values, found, id, refuse)
}

/**
 * Finds the target of the error for a message that was not read to its end: its id, if that comes
 * before the problem or at the very end, and whether it was a reply, which fails a call instead of
 * being answered.
 */
export function replyTarget(
  text: string,
  found: EnvelopeMembers,
  rules: DecodeRules,
): { readonly id: Id | null; readonly reply?: true } {
  const has = found.seen | found.stoppedIn
  const isReply = (has & seen.method) === 0 && (has & REPLY) !== 0
  const idText =
    (found.seen & seen.id) !== 0 && (found.duplicates & seen.id) === 0
      ? text.slice(found.idAt, found.idEnd)
      : idAtEnd.exec(text.slice(-300))?.[1]
  const id = idText === undefined ? null : (parseId(idText, rules) ?? null)
  return isReply ? { id, reply: true } : { id }
}

const idAtEnd = /,\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*("[ !#-[\]-~]*"|-?\d+)\s*\}\s*$/

function parseId(text: string, rules: DecodeRules): Id | null | undefined {
  try {
    return readId(JSON.parse(text), text, rules)
  } catch {
    return undefined
  }
}

type Refuse = (reason: Reason, detail: string) => Malformed

const REPLY = seen.result | seen.error

interface Values {
  readonly jsonrpc: unknown
  readonly id: unknown
  /** The id as text: a large integer is exact only there. */
  readonly idText: string
  readonly method: unknown
  readonly params: unknown
  readonly result: unknown
  readonly error: unknown
}

/**
 * Parses every value, including those of unknown members, because one invalid value makes the text
 * invalid JSON.
 */
function parse(text: string, found: EnvelopeMembers): Values {
  const take = (bit: number, at: number, end: number): unknown =>
    (found.seen & bit) === 0 ? undefined : valueAt(text, at, end)
  for (let i = 0; i < found.others.length; i += 2) {
    JSON.parse(text.slice(found.others[i], found.others[i + 1]))
  }
  return {
    jsonrpc: take(seen.jsonrpc, found.versionAt, found.versionEnd),
    id: take(seen.id, found.idAt, found.idEnd),
    idText: (found.seen & seen.id) === 0 ? '' : text.slice(found.idAt, found.idEnd),
    method: take(seen.method, found.methodAt, found.methodEnd),
    params: take(seen.params, found.paramsAt, found.paramsEnd),
    result: take(seen.result, found.resultAt, found.resultEnd),
    error: take(seen.error, found.errorAt, found.errorEnd),
  }
}

/** Returns the slice of a string without escapes; anything else is parsed. */
function valueAt(text: string, at: number, end: number): unknown {
  if (text.charCodeAt(at) === 34) {
    let i = at + 1
    for (; i < end - 1; i++) {
      const c = text.charCodeAt(i)
      if (c < 32 || c === 92) break
    }
    if (i === end - 1) return text.slice(at + 1, i)
  }
  return JSON.parse(text.slice(at, end))
}

/** Returns the id, null for the null id, or undefined for a value that cannot be an id. */
function readId(value: unknown, text: string, rules: DecodeRules): Id | null | undefined {
  if (value === null) return null
  if (typeof value === 'string') {
    return value.length <= rules.maxIdLength && value.isWellFormed() ? detached(value) : undefined
  }
  if (typeof value !== 'number' || text.length > rules.maxIdLength) return undefined
  // Nearly every number is spelled as we would spell it.
  if (Number.isSafeInteger(value) && `${value}` === text) return value
  const integer = integerOf(text)
  if (integer !== undefined) return integer
  return rules.fractionalIds && !Number.isInteger(value) && Number.isFinite(value)
    ? value
    : undefined
}

/**
 * Returns the exact integer that a JSON number denotes, from its text: the parsed number may have been
 * rounded, and its echo would be another id. `1.0` and `1e0` are 1. Beyond the safe integers only plain
 * digits are accepted, because only they can be echoed unchanged.
 */
function integerOf(text: string): number | bigint | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  if (whole.length === text.length - sign.length) {
    const number = Number(text)
    // "-0" is 0: both are echoed with the same text, so they are the same id.
    if (Number.isSafeInteger(number)) return number === 0 ? 0 : number
    return BigInt(text)
  }
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return 0
  const zeros = Number(exponent) - fraction.length + digits.length - significant.length
  if (zeros < 0 || significant.length + zeros > 16) return undefined
  const number = Number(`${sign}${significant}${'0'.repeat(zeros)}`)
  return Number.isSafeInteger(number) ? number : undefined
}

function readCall(
  values: Values,
  found: EnvelopeMembers,
  id: Id | null | undefined,
  rules: DecodeRules,
  refuse: Refuse,
): Entry {
  const { method } = values
  const isRequest = (found.seen & seen.id) !== 0
  if (isRequest && id === undefined) return refuse('id', 'the id is neither string nor integer')
  if (isRequest && id === null && !rules.nullIds) return refuse('id', 'the id is null')
  if (typeof method !== 'string') return refuse('method', 'method is not a string')
  if (method === '') return refuse('method', 'method is empty')
  if (method.length > rules.maxMethodLength) return refuse('method', 'method is too long')
  if (!method.isWellFormed()) return refuse('method', 'method has an unpaired surrogate')
  let params: Params | undefined
  if ((found.seen & seen.params) !== 0 && !(values.params === null && rules.nullParams)) {
    if (!isStructure(values.params)) return refuse('params', 'params are neither array nor object')
    params = values.params
  }
  const name = detached(method)
  return id === undefined
    ? { type: 'notification', method: name, params }
    : { type: 'request', id, method: name, params }
}

function readReply(
  values: Values,
  found: EnvelopeMembers,
  id: Id | null | undefined,
  refuse: Refuse,
): Entry {
  const hasId = (found.seen & seen.id) !== 0
  if (hasId && id === undefined) return refuse('id', 'the id is neither string nor integer')
  if ((found.seen & seen.result) !== 0) {
    if (id === undefined) return refuse('id', 'a result without an id')
    return { type: 'result', id, result: values.result }
  }
  const error = readError(values.error)
  if (typeof error === 'string') return refuse('error', error)
  // An error can come without an id if the sender could not read one; MCP leaves it out.
  return { type: 'error', id: id ?? null, error }
}

/** Returns the standard members of an error, or a description of what is wrong with it. */
export function readError(value: unknown): ErrorObject | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'error is not an object'
  }
  const { code, message, data } = value as Readonly<Record<string, unknown>>
  if (typeof code !== 'number' || !Number.isInteger(code)) return 'error.code is not an integer'
  if (typeof message !== 'string') return 'error.message is not a string'
  return data === undefined ? { code, message } : { code, message, data }
}

function isStructure(value: unknown): value is Params {
  return typeof value === 'object' && value !== null
}

function names(bits: number): string {
  return Object.entries(seen)
    .filter(([, bit]) => (bits & bit) !== 0)
    .map(([name]) => name)
    .join(', ')
}
