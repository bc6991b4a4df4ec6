import { isRecord } from '../util/objects.ts'
import { checkOptions, type OptionTable } from '../util/options.ts'
import type { ServerInfo } from './options.ts'

/**
 * Throws a TypeError for an invalid definition or handler: callers in JavaScript forget one of them, or
 * use the member names of other libraries.
 */
export function checkRegistration(
  what: string,
  definition: unknown,
  code: unknown,
  table: OptionTable,
): void {
  if (isRecord(definition) && typeof code !== 'function') {
    throw new TypeError(
      `${what}: the handler, the last argument, must be a function (got ${kind(code)})`,
    )
  }
  checkDefinition(what, definition, table)
}

/** Throws a TypeError for an invalid definition, as `checkRegistration` does. */
export function checkDefinition(what: string, definition: unknown, table: OptionTable): void {
  if (!isRecord(definition)) {
    throw new TypeError(
      `${what}: the definition must be an object, at least {} (got ${kind(definition)})`,
    )
  }
  for (const name of Object.keys(definition)) {
    const ours = renamed.get(name)
    if (ours !== undefined) throw new TypeError(`${what}: "${name}" is called "${ours}" here`)
  }
  const entries = Object.entries(definition)
  const isForeign = entries.some(([name]) => !Object.hasOwn(table, name))
  if (isForeign && entries.every(([, value]) => isSchema(value))) {
    throw new TypeError(
      `${what}: the definition is an object of schemas: pass them as one, as in { input: z.object({ … }) }`,
    )
  }
  checkOptions(definition, table, `${what}: `)
}

/** Throws a TypeError for completers of arguments or variables that do not exist: they would never run. */
export function checkCompleters(what: string, complete: unknown, names: readonly string[]): void {
  for (const name of isRecord(complete) ? Object.keys(complete) : []) {
    if (names.includes(name)) continue
    const known = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`
    throw new TypeError(
      `${what}: "complete" names "${name}", which is not one of its arguments; ${known}`,
    )
  }
}

function isSchema(value: unknown): boolean {
  return typeof value === 'object' && value !== null && '~standard' in value
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
