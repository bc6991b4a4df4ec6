import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'

/**
 * Returns the TypeScript type of the values that a JSON Schema describes. What the type system cannot say, such as
 * patterns and ranges, is left out; what cannot be resolved, such as a schema that contains itself, is `unknown`.
 * Names and literals are quoted, so that no schema can add code.
 */
export function typescriptOf(schema: unknown): string {
  return new TypeWriter(schema).type(schema, 0).text
}

/** Returns a doc comment with a text of a peer; empty if there is none. */
export function commentText(text: unknown, indent: string): string {
  if (typeof text !== 'string' || text.trim() === '') return ''
  const lines = text
    .trim()
    .slice(0, limits.typesCommentLength.default)
    .replaceAll('*/', '*\\/')
    .split(/\r\n|[\r\n\u2028\u2029]/)
    .map(line => printableLine(line).trimEnd())
  const [only] = lines
  if (lines.length === 1) return `${indent}/** ${only} */\n`
  const rows = lines.map(line => `${indent} *${line === '' ? '' : ` ${line}`}\n`).join('')
  return `${indent}/**\n${rows}${indent} */\n`
}

/** Returns a name as it stands before a colon. */
export function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name)
}

/** A type as text, and whether it needs parentheses inside of another. */
interface Type {
  readonly text: string
  readonly isCompound: boolean
}

class TypeWriter {
  readonly #root: unknown
  /** The references that are being written, to find those that contain themselves. */
  readonly #open = new Set<string>()
  #schemas = 0

  constructor(root: unknown) {
    this.#root = root
  }

  type(schema: unknown, depth: number): Type {
    if (schema === false) return one('never')
    if (!isRecord(schema)) return unknownType
    const isTooMuch = ++this.#schemas > limits.schemaCount.default
    if (isTooMuch || depth > limits.schemaDepth.default) return unknownType
    if (typeof schema.$ref === 'string') return this.#referenced(schema.$ref, depth)
    if ('const' in schema) return literalType(schema.const)
    if (Array.isArray(schema.enum)) return union(schema.enum.map(literalType))
    return intersection([
      this.#own(schema, depth),
      this.#choice(schema, depth),
      ...this.#all(schema, depth),
    ])
  }

  #referenced(reference: string, depth: number): Type {
    if (this.#open.has(reference)) return unknownType
    this.#open.add(reference)
    const type = this.type(targetOf(this.#root, reference), depth)
    this.#open.delete(reference)
    return type
  }

  #choice({ anyOf, oneOf }: Keywords, depth: number): Type {
    const options = Array.isArray(anyOf) ? anyOf : oneOf
    if (!Array.isArray(options) || options.length === 0) return unknownType
    return union(options.map(option => this.type(option, depth)))
  }

  #all({ allOf }: Keywords, depth: number): readonly Type[] {
    return Array.isArray(allOf) ? allOf.map(part => this.type(part, depth)) : []
  }

  /** The type by the keyword `type`, or by keywords that only objects or arrays have. */
  #own(schema: Keywords, depth: number): Type {
    const { type } = schema
    if (Array.isArray(type)) {
      return union(type.map(name => this.#byName(String(name), schema, depth)))
    }
    if (typeof type === 'string') return this.#byName(type, schema, depth)
    if (isRecord(schema.properties)) return this.#object(schema, depth)
    return 'items' in schema || 'prefixItems' in schema ? this.#array(schema, depth) : unknownType
  }

  #byName(name: string, schema: Keywords, depth: number): Type {
    switch (name) {
      case 'object':
        return this.#object(schema, depth)
      case 'array':
        return this.#array(schema, depth)
      case 'integer':
        return one('number')
      case 'string':
      case 'number':
      case 'boolean':
      case 'null':
        return one(name)
      default:
        return unknownType
    }
  }

  #object({ properties, required, additionalProperties }: Keywords, depth: number): Type {
    const needed = new Set(Array.isArray(required) ? required : [])
    const entries = isRecord(properties) ? Object.entries(properties) : []
    const isOpen = additionalProperties === true || isRecord(additionalProperties)
    if (entries.length === 0) {
      if (isOpen) return one(`Record<string, ${this.type(additionalProperties, depth).text}>`)
      return one(
        additionalProperties === false ? 'Record<string, never>' : 'Record<string, unknown>',
      )
    }
    const indent = '  '.repeat(depth + 1)
    const members = entries.map(([name, schema]) => {
      const comment = commentText(isRecord(schema) ? schema.description : undefined, indent)
      const mark = needed.has(name) ? '' : '?'
      return `${comment}${indent}${memberName(name)}${mark}: ${this.type(schema, depth + 1).text}\n`
    })
    // Beside known members only `unknown` admits the types of all of them.
    if (isOpen) members.push(`${indent}[name: string]: unknown\n`)
    return one(`{\n${members.join('')}${'  '.repeat(depth)}}`)
  }

  #array({ items, prefixItems }: Keywords, depth: number): Type {
    const rest = `${grouped(this.type(items, depth + 1))}[]`
    if (!Array.isArray(prefixItems)) return one(rest)
    const first = prefixItems.map(item => this.type(item, depth + 1).text)
    return one(`[${[...first, ...(items === false ? [] : [`...${rest}`])].join(', ')}]`)
  }
}

type Keywords = Readonly<Record<string, unknown>>

/** Returns the schema that a reference within the same document means; undefined if there is none. */
function targetOf(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined
  let found = root
  for (const part of reference.slice(1).split('/').slice(1)) {
    const name = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isRecord(found) || !Object.hasOwn(found, name)) return undefined
    found = found[name]
  }
  return found
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function literalType(value: unknown): Type {
  return typeof value === 'object' && value !== null ? unknownType : one(literal(value))
}

function literal(value: unknown): string {
  // Line separators end a line in source code, and other invisible characters mislead its readers.
  return JSON.stringify(value).replace(/[^\x20-\x7e]/g, escaped)
}

function printableLine(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}]/gu, ' ')
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function one(text: string): Type {
  return { text, isCompound: false }
}

const unknownType = one('unknown')

function union(types: readonly Type[]): Type {
  if (types.some(({ text }) => text === 'unknown')) return unknownType
  const texts = [...new Set(types.map(grouped))]
  const [only = 'never'] = texts
  return texts.length > 1 ? { text: texts.join(' | '), isCompound: true } : one(only)
}

function intersection(types: readonly Type[]): Type {
  const known = types.filter(({ text }) => text !== 'unknown')
  const [only = unknownType] = known
  return known.length > 1 ? { text: known.map(grouped).join(' & '), isCompound: true } : only
}

/** Returns a type in parentheses if it would otherwise be read together with what surrounds it. */
function grouped({ text, isCompound }: Type): string {
  return isCompound ? `(${text})` : text
}
