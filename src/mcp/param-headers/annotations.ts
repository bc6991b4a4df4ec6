import { errorWords } from '../../util/error-words.ts'
import { isRecord } from '../../util/record.ts'
import { type Place, pointer, walkSchema } from '../schema/walk.ts'

/** Which arguments of a tool also travel as HTTP headers, or why its schema must not be used. */
export type HeaderAnnotations =
  | {
      readonly ok: true
      /** From the name of a header, as in `Mcp-Param-Region`, to the path of its argument. */
      readonly headers: ReadonlyMap<string, readonly string[]>
    }
  | { readonly ok: false; readonly why: string }

/**
 * Reads the annotations `x-mcp-header` of a tool's input schema, and checks all the rules for them:
 * a name is a token of RFC 9110 and stands once, whatever its case; it belongs to a string, an
 * integer (no other than safe ones) or a boolean; and the way to it leads through `properties` alone.
 *
 * A client that speaks HTTP must not offer a tool whose annotations break a rule; over other
 * transports they mean nothing. A schema that is wrong in other ways is no concern of this function.
 */
export function headerAnnotations(inputSchema: unknown): HeaderAnnotations {
  const headers = new Map<string, readonly string[]>()
  const taken = new Map<string, string>()
  let why: string | undefined
  const visit = (place: Place) => {
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
    // Too deep or too large to be looked through: nobody can say that its annotations are right.
    why ??= errorWords(error)
  }
  return why === undefined ? { ok: true, headers } : { ok: false, why }
}

const keyword = 'x-mcp-header'

function faultOf(name: unknown, { schema, properties }: Place): string | undefined {
  if (typeof name !== 'string') return 'is no string'
  if (name === '') return 'is empty'
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return `is no name of a header: ${JSON.stringify(name)}`
  if (properties === undefined || properties.length === 0) {
    return 'is not on a property that is reached through "properties" alone'
  }
  const type = primitiveOf(schema.type)
  if (type === undefined) return 'is on something other than a string, an integer or a boolean'
  if (type !== 'integer') return undefined
  const values = Array.isArray(schema.enum) ? schema.enum : []
  const isUnsafe = [...values, schema.const ?? 0].some(value => !isSafe(value))
  return isUnsafe ? 'is on an integer beyond what JavaScript can hold' : undefined
}

/** The one primitive type that a value may have; it may be null besides, which sends no header. */
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
