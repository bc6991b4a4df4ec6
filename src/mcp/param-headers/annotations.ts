import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { pointer, type SchemaLocation, walkSchema } from '../schema/walk.ts'

/** Which arguments of a tool are also sent as HTTP headers, or why its schema is invalid. */
export type HeaderAnnotations =
  | {
      readonly ok: true
      /** The path of the argument by the name of its header, such as `Mcp-Param-Region`. */
      readonly headers: ReadonlyMap<string, readonly string[]>
    }
  | { readonly ok: false; readonly why: string }

/**
 * Reads the `x-mcp-header` annotations of the input schema of a tool, and checks their rules: a name is
 * an RFC 9110 token and unique, ignoring case; it annotates a string, a safe integer or a boolean; and
 * the path to it leads through `properties` alone.
 *
 * An HTTP client must not list a tool whose annotations break a rule; other transports ignore them.
 * Other faults of a schema are not checked here.
 */
export function headerAnnotations(inputSchema: unknown): HeaderAnnotations {
  if (!mayBeAnnotated(inputSchema, new Budget())) return none
  const headers = new Map<string, readonly string[]>()
  const taken = new Map<string, string>()
  let why: string | undefined
  const visit = (place: SchemaLocation) => {
    if (why !== undefined || !Object.hasOwn(place.schema, keyword)) return
    const name = place.schema[keyword]
    const other = typeof name === 'string' ? taken.get(name.toLowerCase()) : undefined
    const fault = faultOf(name, place) ?? (other && `is the same header as "${other}"`)
    if (fault !== undefined) {
      why = `${keyword} at ${pointer(place.path)} ${fault}`
      return
    }
    taken.set(String(name).toLowerCase(), String(name))
    headers.set(`Mcp-Param-${name}`, place.properties ?? [])
  }
  try {
    if (isRecord(inputSchema)) walkSchema(inputSchema, visit, { isLenient: true })
  } catch (error) {
    // A schema that is too deep or too large to walk counts as invalid.
    why ??= errorMessage(error)
  }
  return why === undefined ? { ok: true, headers } : { ok: false, why }
}

const keyword = 'x-mcp-header'

const none: HeaderAnnotations = { ok: true, headers: new Map() }

/** Counts the values that are left to look at. */
class Budget {
  values = 10_000
}

/**
 * Returns whether an annotation may be anywhere in a schema, and true for one that is too deep or too large
 * to tell. Nearly no schema has one, and lists have thousands of schemas: looking for the name alone takes a
 * small part of the time of a walk.
 */
function mayBeAnnotated(value: unknown, left: Budget, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depth > limits.schemaDepth.default || --left.values < 0) return true
  if (Array.isArray(value)) return value.some(item => mayBeAnnotated(item, left, depth + 1))
  // The check: an object that is no array.
  const members = value as Readonly<Record<string, unknown>>
  for (const name in members) {
    if (name === keyword || mayBeAnnotated(members[name], left, depth + 1)) return true
  }
  return false
}

function faultOf(name: unknown, { schema, properties }: SchemaLocation): string | undefined {
  if (typeof name !== 'string') return 'is not a string'
  if (name === '') return 'is empty'
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
    return `is not a valid header name: ${JSON.stringify(name)}`
  if (properties === undefined || properties.length === 0) {
    return 'must be on a property that is reached through "properties" alone'
  }
  const type = primitiveOf(schema.type)
  if (type === undefined) return 'must be on a string, an integer or a boolean'
  if (type !== 'integer') return undefined
  const values = Array.isArray(schema.enum) ? schema.enum : []
  const isUnsafe = [...values, schema.const ?? 0].some(value => !isSafe(value))
  return isUnsafe ? 'must not be on an integer outside of the safe range' : undefined
}

/** Returns the only primitive type of a value; null is allowed besides, and sends no header. */
function primitiveOf(type: unknown): string | undefined {
  const types = (Array.isArray(type) ? type : [type]).filter((one, _, all) =>
    all.length === 1 ? true : one !== 'null',
  )
  const [only] = types
  if (types.length !== 1 || typeof only !== 'string') return undefined
  return ['string', 'integer', 'boolean'].includes(only) ? only : undefined
}

function isSafe(value: unknown): boolean {
  return typeof value !== 'number' || Number.isSafeInteger(value)
}
