import { BACKSLASH, QUOTE } from './char-codes.ts'
import { Written } from './raw-json.ts'

/**
 * The JSON of a value: letter by letter what `JSON.stringify` gives, in two thirds of its time for what
 * most messages hold, small plain objects with short texts. Whatever is larger, nested deeper or not
 * plain is left to `JSON.stringify`, as a whole or in parts. Undefined for what has no JSON.
 *
 * Throws what `JSON.stringify` throws: for cycles, bigints, nesting beyond the stack.
 */
export function write(value: unknown): string | undefined {
  const isPlain = typeof value === 'object' && value !== null && !isPolluted()
  const text = isPlain ? writeObject(value, 0) : NATIVE
  return text === NATIVE ? JSON.stringify(value) : text
}

/**
 * Keeps the JSON of an object that many messages carry as one of their members, for as long as the
 * object lives. It must be frozen, with everything it holds.
 */
export function writeOnce<T extends object>(constant: T): T {
  constants.set(constant, JSON.stringify(constant))
  return constant
}

const constants = new WeakMap<object, string>()

// Beyond these the native way is the faster one.
const MEMBERS = 16
const ELEMENTS = 4
const LEVELS = 4
const LETTERS = 64

/** Stands for "not here": no JSON is an empty text. The whole is then written natively. */
const NATIVE = ''

function writeValue(value: unknown, level: number): string | undefined {
  switch (typeof value) {
    case 'string':
      return writeString(value)
    case 'number':
      return Number.isFinite(value) ? `${value}` : 'null'
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      return value === null ? 'null' : writeObject(value, level)
    case 'undefined':
    case 'symbol':
      return undefined
    default:
      return NATIVE
  }
}

function writeObject(value: object, level: number): string {
  if (level === 1) {
    if (value instanceof Written) return value.text
    const known = constants.get(value)
    if (known !== undefined) return known
  }
  // Such a function is told the key it stands under, which only the native way knows in all cases.
  if ((value as { toJSON?: unknown }).toJSON !== undefined) return NATIVE
  if (level >= LEVELS) return JSON.stringify(value)
  if (Array.isArray(value)) return writeArray(value, level)
  const isPlain = Object.getPrototypeOf(value) === Object.prototype
  return isPlain ? writeMembers(value as Members, level) : JSON.stringify(value)
}

type Members = Readonly<Record<string, unknown>>

function writeMembers(value: Members, level: number): string {
  let text = ''
  let count = 0
  for (const key in value) {
    if (++count > MEMBERS) return JSON.stringify(value)
    const member = writeValue(value[key], level + 1)
    if (member === undefined) continue
    if (member === NATIVE) return NATIVE
    const written = keyOf(key)
    text += text === '' ? written.first : written.next
    text += member
  }
  return text === '' ? '{}' : `${text}}`
}

function writeArray(value: readonly unknown[], level: number): string {
  if (value.length > ELEMENTS) return JSON.stringify(value)
  let text = '['
  for (let i = 0; i < value.length; i++) {
    const element = writeValue(value[i], level + 1) ?? 'null'
    if (element === NATIVE) return NATIVE
    text += i === 0 ? element : `,${element}`
  }
  return `${text}]`
}

/** Printable ASCII without quote and backslash is written as it is. */
function writeString(value: string): string {
  if (value.length > LETTERS) return JSON.stringify(value)
  for (let i = 0; i < value.length; i++) {
    const c = value.charCodeAt(i)
    if (c < 32 || c === QUOTE || c === BACKSLASH || c > 126) return JSON.stringify(value)
  }
  return `"${value}"`
}

/** A key with everything around it, as the first of its object and as a later one. */
interface Key {
  readonly first: string
  readonly next: string
}

// Keys repeat: there are as many as the program and its protocol know. Those that come from outside
// may be any number, so the table is thrown away before it grows.
const keys = new Map<string, Key>()
const KEYS = 1024

function keyOf(key: string): Key {
  const known = keys.get(key)
  if (known !== undefined) return known
  const text = JSON.stringify(key)
  const made = { first: `{${text}:`, next: `,${text}:` }
  if (key.length > LETTERS) return made
  if (keys.size >= KEYS) keys.clear()
  keys.set(key, made)
  return made
}

/** Whether somebody gave all objects a member, which a loop over members would find. */
function isPolluted(): boolean {
  for (const _ in Object.prototype) return true
  return false
}
