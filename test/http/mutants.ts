import * as core from '@modelcontextprotocol/core'
import * as sdk from '@modelcontextprotocol/sdk/types.js'
import * as z from 'zod'

/** The parts of a JSON Schema that examples are generated from. */
interface Shape {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Shape[]
  readonly oneOf?: readonly Shape[]
  readonly allOf?: readonly Shape[]
  readonly properties?: Readonly<Record<string, Shape>>
  readonly items?: Shape
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Shape>>
  readonly format?: string
}

/** Examples of all messages in one direction, by method. */
export interface Examples {
  readonly requests: ReadonlyMap<string, object>
  readonly notifications: ReadonlyMap<string, object>
  /** The results of these requests; several if there are alternatives. */
  readonly results: ReadonlyMap<string, readonly object[]>
}

const stateless = '2026-07-28'
const examples = new Map<unknown, Examples>()

/**
 * Returns examples with every member, from the schemas that the official packages publish: those of the
 * newest revision for that one, and those of its predecessor for all others, which have parts of it.
 */
export function examplesOf(revision: string): Examples {
  const module: Readonly<Record<string, unknown>> = revision === stateless ? core : sdk
  const known = examples.get(module)
  if (known !== undefined) return known
  const requests = new Map<string, object>()
  const notifications = new Map<string, object>()
  const results = new Map<string, readonly object[]>()
  for (const [name, schema] of Object.entries(module)) {
    if (!/(?:Request|Notification)Schema$/.test(name) || !(schema instanceof Object)) continue
    const [example] = examplesBy(schema)
    const method = example === undefined ? undefined : Reflect.get(example, 'method')
    if (example === undefined || typeof method !== 'string' || !method.includes('/')) {
      if (!['initialize', 'ping'].includes(String(method))) continue
    }
    if (name.endsWith('NotificationSchema')) notifications.set(String(method), example ?? {})
    else {
      requests.set(String(method), example ?? {})
      const result = module[name.replace(/RequestSchema$/, 'ResultSchema')] ?? module.ResultSchema
      const found = result instanceof Object ? examplesBy(result) : []
      results.set(String(method), found)
    }
  }
  const made = { requests, notifications, results }
  examples.set(module, made)
  return made
}

/** Returns one example with all members for each top-level alternative. */
function examplesBy(schema: object): object[] {
  // The cast is safe: the packages build their schemas with this library.
  const shape = z.toJSONSchema(schema as z.ZodType, {
    unrepresentable: 'any',
    io: 'input',
  }) as Shape
  const alternatives = shape.anyOf ?? shape.oneOf ?? [shape]
  return alternatives
    .map(one => example(one, shape, 0))
    .filter((found): found is object => typeof found === 'object' && found !== null)
}

function example(shape: Shape, root: Shape, depth: number): unknown {
  if (shape.const !== undefined) return shape.const
  if (shape.enum !== undefined) return shape.enum[0]
  if (shape.$ref !== undefined) {
    const inner = root.$defs?.[shape.$ref.replace('#/$defs/', '')]
    return inner === undefined || depth > 8 ? {} : example(inner, root, depth + 1)
  }
  if (shape.allOf !== undefined) {
    return Object.assign({}, ...shape.allOf.map(one => example(one, root, depth)))
  }
  const [first] = shape.anyOf ?? shape.oneOf ?? []
  if (first !== undefined) return example(first, root, depth)
  switch (shape.type) {
    case 'object': {
      const members = Object.entries(shape.properties ?? {})
      return Object.fromEntries(members.map(([key, one]) => [key, example(one, root, depth + 1)]))
    }
    case 'array':
      return shape.items === undefined ? [] : [example(shape.items, root, depth + 1)]
    case 'integer':
    case 'number':
      return 1
    case 'boolean':
      return true
    case 'string':
      return shape.format === 'uri' ? 'test://thing' : 'thing'
    default:
      return {}
  }
}

/** Replacements for each member: null, and values of every other type. */
const others: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  '',
  'constructor',
  '\ud800',
  [],
  [null],
  [[]],
  {},
  { thing: null },
  { __proto__: null, length: 3 },
]

/** Yields every mutant of a value: each member, at any depth, removed and replaced by every replacement. */
export function* mutants(value: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      for (const other of others) yield value.with(i, other)
      for (const inner of mutants(item)) yield value.with(i, inner)
    }
    return
  }
  const members = Object.entries(value)
  for (const [key, item] of members) {
    yield Object.fromEntries(members.filter(([name]) => name !== key))
    for (const other of others) yield { ...value, [key]: other }
    for (const inner of mutants(item)) yield { ...value, [key]: inner }
  }
}
