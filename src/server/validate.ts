import { isRecord } from '../util/objects.ts'
import type { ServerInfo } from './options.ts'

/**
 * Throws a TypeError for an invalid definition or handler: callers in JavaScript forget one of them, or
 * use the member names of other libraries.
 */
export function checkRegistration(what: string, definition: unknown, code: unknown): void {
  if (!isRecord(definition)) {
    throw new TypeError(
      `${what}: the definition must be an object, at least {} (got ${kind(definition)})`,
    )
  }
  if (typeof code !== 'function') {
    throw new TypeError(
      `${what}: the handler, the last argument, must be a function (got ${kind(code)})`,
    )
  }
  for (const name of Object.keys(definition)) {
    const ours = renamed.get(name)
    if (ours !== undefined) throw new TypeError(`${what}: "${name}" is called "${ours}" here`)
  }
}

/** Throws a TypeError for a server without a name or version. */
export function checkInfo(info: ServerInfo): void {
  if (!isRecord(info)) {
    throw new TypeError(`a server needs { name, version } (got ${kind(info)})`)
  }
  for (const name of ['name', 'version'] as const) {
    if (typeof info[name] === 'string' && info[name] !== '') continue
    throw new TypeError(
      `the "${name}" of a server must be a non-empty string (got ${kind(info[name])})`,
    )
  }
}

/** Member names in the definitions of other libraries, with ours. */
const renamed: ReadonlyMap<string, string> = new Map([
  ['inputSchema', 'input'],
  ['parameters', 'input'],
  ['outputSchema', 'output'],
  ['argsSchema', 'args'],
  ['_meta', 'meta'],
])

function kind(value: unknown): string {
  if (value === '') return 'an empty string'
  if (typeof value === 'object' && value !== null) {
    return Array.isArray(value) ? 'an array' : 'an object'
  }
  return value === undefined || value === null ? String(value) : `a ${typeof value}`
}
