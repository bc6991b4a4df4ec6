import { isRecord } from '../util/record.ts'
import type { ServerInfo } from './options.ts'

/**
 * Throws a TypeError for a definition or code that cannot be meant: callers that the compiler never
 * saw forget one of them, or use the words of other libraries.
 */
export function checkRegistration(what: string, definition: unknown, code: unknown): void {
  if (!isRecord(definition)) {
    throw new TypeError(
      `${what}: the definition is an object, at least {}, not ${kind(definition)}`,
    )
  }
  if (typeof code !== 'function') {
    throw new TypeError(`${what}: what runs is a function, the last argument, not ${kind(code)}`)
  }
  for (const name of Object.keys(definition)) {
    const ours = words.get(name)
    if (ours !== undefined) throw new TypeError(`${what}: "${name}" is called "${ours}" here`)
  }
}

/** Throws a TypeError for a server that does not say what it is called. */
export function checkInfo(info: ServerInfo): void {
  if (!isRecord(info)) {
    throw new TypeError(`a server is made of { name, version }, not of ${kind(info)}`)
  }
  for (const name of ['name', 'version'] as const) {
    if (typeof info[name] === 'string' && info[name] !== '') continue
    throw new TypeError(`the "${name}" of a server is a text, not ${kind(info[name])}`)
  }
}

/** What the definitions of other libraries call what ours call otherwise. */
const words: ReadonlyMap<string, string> = new Map([
  ['inputSchema', 'input'],
  ['parameters', 'input'],
  ['outputSchema', 'output'],
  ['argsSchema', 'args'],
  ['_meta', 'meta'],
])

function kind(value: unknown): string {
  if (value === '') return 'an empty one'
  if (typeof value === 'object' && value !== null) {
    return Array.isArray(value) ? 'an array' : 'an object'
  }
  return value === undefined || value === null ? String(value) : `a ${typeof value}`
}
