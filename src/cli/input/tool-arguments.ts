import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { errorWords } from '../../util/error-words.ts'
import { isRecord } from '../../util/record.ts'
import { UsageError } from '../exit.ts'

/** Where arguments stand on a command line. */
export interface GivenArguments {
  /** `name=value`, `name:=json`, and `-` for a JSON object on stdin. */
  readonly operands: readonly string[]
  /** What `--args` says: JSON, `@file` or `-`. */
  readonly args: string | undefined
  readonly stdin: NodeJS.ReadableStream
}

/**
 * Puts the arguments of a tool together: those of `--args` or stdin first, single ones on top. A value
 * is typed as the schema says, where there is one; a name that is given twice makes a list where the
 * schema wants one. Throws a UsageError that names the argument.
 */
export async function argumentsOf(
  { operands, args, stdin }: GivenArguments,
  inputSchema?: unknown,
): Promise<Record<string, unknown>> {
  const isPiped = operands.includes('-')
  if (isPiped && args !== undefined) {
    throw new UsageError('arguments come from --args or from stdin, not from both')
  }
  const whole = isPiped ? '-' : args
  // A map, because names may be anything, `__proto__` included.
  const found = new Map<string, unknown>(
    whole === undefined ? [] : Object.entries(await objectOf(whole, stdin)),
  )
  const single = new Set<string>()
  for (const operand of operands.filter(one => one !== '-')) {
    const { name, value, isJson } = taken(operand)
    const schema = propertyOf(inputSchema, name)
    const isList = !isJson && typesOf(schema).includes('array') && !value.startsWith('[')
    const read = isJson
      ? parsed(name, value)
      : typed(name, value, isList ? itemsOf(schema) : schema)
    if (isList) {
      const before = single.has(name) ? found.get(name) : []
      found.set(name, [...(Array.isArray(before) ? before : []), read])
    } else {
      if (single.has(name)) throw new UsageError(`the argument "${name}" is given twice`)
      found.set(name, read)
    }
    single.add(name)
  }
  return Object.fromEntries(found)
}

/** The same for prompts, whose arguments are all texts. */
export async function textArgumentsOf(given: GivenArguments): Promise<Record<string, string>> {
  const all = await argumentsOf(given)
  for (const [name, value] of Object.entries(all)) {
    if (typeof value !== 'string') {
      throw new UsageError(
        `the argument "${name}" of a prompt is a text, not ${JSON.stringify(value)}`,
      )
    }
  }
  // The check: all of them are strings.
  return all as Record<string, string>
}

interface Taken {
  readonly name: string
  readonly value: string
  readonly isJson: boolean
}

function taken(operand: string): Taken {
  const [, name, colon, value] = /^([^=]*?)(:?)=(.*)$/s.exec(operand) ?? []
  if (name === undefined || name === '' || value === undefined) {
    throw new UsageError(`arguments are name=value or name:=json, not "${operand}"`)
  }
  return { name, value, isJson: colon === ':' }
}

async function objectOf(
  given: string,
  stdin: NodeJS.ReadableStream,
): Promise<Record<string, unknown>> {
  const source = await sourceOf(given, stdin)
  let value: unknown
  try {
    value = JSON.parse(source.json)
  } catch (error) {
    const why = errorWords(error)
    throw new UsageError(`${source.what} is no JSON: ${why}`)
  }
  if (isRecord(value)) return value
  throw new UsageError(`${source.what} is no JSON object, which arguments are`)
}

async function sourceOf(given: string, stdin: NodeJS.ReadableStream) {
  if (given === '-') return { what: 'what stdin gives', json: await text(stdin) }
  if (!given.startsWith('@')) return { what: '--args', json: given }
  const file = given.slice(1)
  try {
    return { what: file, json: await readFile(file, 'utf8') }
  } catch (error) {
    const why = errorWords(error)
    throw new UsageError(`--args @${file} cannot be read: ${why}`, { cause: error })
  }
}

function parsed(name: string, value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    throw new UsageError(`${name}:= takes JSON, which ${JSON.stringify(value)} is not`)
  }
}

/** A text as the value that its schema describes. */
function typed(name: string, value: string, schema: unknown): unknown {
  const types = typesOf(schema)
  if (types.length === 0 || types.includes('string')) return value
  if (types.includes('null') && value === 'null') return null
  if (types.includes('boolean') && /^(?:true|false)$/.test(value)) return value === 'true'
  if (types.some(type => type === 'number' || type === 'integer') && /^-?[\d.]/.test(value)) {
    const number = Number(value)
    if (Number.isFinite(number)) return number
  }
  if (types.some(type => type === 'object' || type === 'array')) return parsed(name, value)
  throw new UsageError(
    `the argument "${name}" is ${types.join(' or ')}, not ${JSON.stringify(value)}; ${name}:=json says it exactly`,
  )
}

function propertyOf(schema: unknown, name: string): unknown {
  const properties = isRecord(schema) ? schema.properties : undefined
  return isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
}

function itemsOf(schema: unknown): unknown {
  return isRecord(schema) ? schema.items : undefined
}

/** The types that a schema allows, where it says so plainly. */
export function typesOf(schema: unknown): readonly string[] {
  if (!isRecord(schema)) return []
  const { type, anyOf, oneOf } = schema
  const parts = anyOf ?? oneOf
  if (type === undefined && Array.isArray(parts)) return [...new Set(parts.flatMap(typesOf))]
  return (Array.isArray(type) ? type : [type]).filter(one => typeof one === 'string')
}
