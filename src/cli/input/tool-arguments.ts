import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { isRecord } from '../../util/objects.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { FileError, UsageError } from '../exit.ts'

/** Sources of tool arguments on a command line. */
export interface GivenArguments {
  /** `name=value`, `name:=json`, a JSON object, and `-` for a JSON object on stdin. */
  readonly operands: readonly string[]
  /** The value of `--args`: JSON, `@file` or `-`. */
  readonly args: string | undefined
  readonly stdin: NodeJS.ReadableStream
}

/**
 * Collects the arguments of a tool. Single arguments override those of `--args` or stdin. A value is converted to
 * the type in the schema, if there is one; a repeated name makes an array if the schema expects one. Throws a
 * UsageError that names the argument.
 */
export async function argumentsOf(
  { operands, args, stdin }: GivenArguments,
  inputSchema?: unknown,
): Promise<Record<string, unknown>> {
  const objects = operands.filter(isObject)
  const wholes = [...(operands.includes('-') ? ['-'] : []), ...objects, ...(args ? [args] : [])]
  if (wholes.length > 1) {
    throw new UsageError('give one JSON object: as an operand, with --args or on stdin')
  }
  const [whole] = wholes
  // A map, because a name may be anything, even `__proto__`.
  const found = new Map<string, unknown>(
    whole === undefined
      ? []
      : Object.entries(
          await readObject(whole, stdin, objects.length > 0 ? 'the JSON operand' : '--args'),
        ),
  )
  const single = new Set<string>()
  for (const operand of operands.filter(one => one !== '-' && !isObject(one))) {
    const { name, value, isJson } = splitOperand(operand)
    const schema = propertyOf(inputSchema, name)
    const isList = !isJson && typesOf(schema).includes('array') && !value.startsWith('[')
    const read = isJson
      ? parseJson(name, value)
      : coerce(name, value, isList ? itemsOf(schema) : schema)
    if (isList) {
      const before = single.has(name) ? found.get(name) : []
      found.set(name, [...(Array.isArray(before) ? before : []), read])
    } else {
      if (single.has(name)) throw new UsageError(`argument "${name}" is given twice`)
      found.set(name, read)
    }
    single.add(name)
  }
  return Object.fromEntries(found)
}

/** Collects the arguments of a prompt, which are strings. Throws a UsageError for any other value. */
export async function promptArgumentsOf(given: GivenArguments): Promise<Record<string, string>> {
  const all = await argumentsOf(given)
  for (const [name, value] of Object.entries(all)) {
    if (typeof value !== 'string') {
      throw new UsageError(
        `prompt argument "${name}" must be a string (got ${JSON.stringify(value)})`,
      )
    }
  }
  // The check: every value is a string.
  return all as Record<string, string>
}

/** Whether an operand is a JSON object rather than `name=value`. */
function isObject(operand: string): boolean {
  return operand.trimStart().startsWith('{')
}

interface NamedValue {
  readonly name: string
  readonly value: string
  readonly isJson: boolean
}

function splitOperand(operand: string): NamedValue {
  const [, name, colon, value] = /^([^=]*?)(:?)=(.*)$/s.exec(operand) ?? []
  if (name === undefined || name === '' || value === undefined) {
    throw new UsageError(
      `arguments must be name=value, --name value, name:=json or a JSON object (got "${operand}")`,
    )
  }
  return { name, value, isJson: colon === ':' }
}

async function readObject(
  given: string,
  stdin: NodeJS.ReadableStream,
  what: string,
): Promise<Record<string, unknown>> {
  const source = await sourceOf(given, stdin, what)
  let value: unknown
  try {
    value = JSON.parse(source.json)
  } catch (error) {
    throw new UsageError(`${source.what} is not valid JSON: ${errorMessage(error)}`)
  }
  if (isRecord(value)) return value
  throw new UsageError(`${source.what} must be a JSON object`)
}

async function sourceOf(given: string, stdin: NodeJS.ReadableStream, what: string) {
  if (given === '-') return { what: 'stdin', json: await text(stdin) }
  if (!given.startsWith('@')) return { what, json: given }
  const file = given.slice(1)
  try {
    return { what: file, json: await readFile(file, 'utf8') }
  } catch (error) {
    throw new FileError(`cannot read --args @${file}: ${errorMessage(error)}`, { cause: error })
  }
}

function parseJson(name: string, value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    throw new UsageError(`${name}:= must be followed by JSON (got ${JSON.stringify(value)})`)
  }
}

/** Converts text to the type in the schema. Throws a UsageError if it does not match. */
function coerce(name: string, value: string, schema: unknown): unknown {
  const types = typesOf(schema)
  if (types.length === 0 || types.includes('string')) return value
  if (types.includes('null') && value === 'null') return null
  if (types.includes('boolean') && /^(?:true|false)$/.test(value)) return value === 'true'
  if (types.some(type => type === 'number' || type === 'integer') && /^-?[\d.]/.test(value)) {
    const number = Number(value)
    if (Number.isFinite(number)) return number
  }
  if (types.some(type => type === 'object' || type === 'array')) return parseJson(name, value)
  throw new UsageError(
    `argument "${name}" must be of type ${types.join(' or ')} (got ${JSON.stringify(value)}); use ${name}:=json to pass JSON`,
  )
}

function propertyOf(schema: unknown, name: string): unknown {
  const properties = isRecord(schema) ? schema.properties : undefined
  return isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
}

function itemsOf(schema: unknown): unknown {
  return isRecord(schema) ? schema.items : undefined
}

/** Returns the types that a schema allows directly; empty if it does not name any. */
export function typesOf(schema: unknown): readonly string[] {
  if (!isRecord(schema)) return []
  const { type, anyOf, oneOf } = schema
  const parts = anyOf ?? oneOf
  if (type === undefined && Array.isArray(parts)) return [...new Set(parts.flatMap(typesOf))]
  return (Array.isArray(type) ? type : [type]).filter(one => typeof one === 'string')
}
