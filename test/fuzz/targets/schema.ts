import assert from 'node:assert/strict'
import { type Compiled, compileSchema, SchemaError } from '../../../src/mcp/schema/schema.ts'
import { isRecord } from '../../../src/util/objects.ts'
import { json } from '../json.ts'
import type { Random } from '../random.ts'
import { target } from '../target.ts'

/**
 * JSON Schemas of a hostile peer: compiling and validating throw nothing but SchemaErrors, and a value
 * is valid or has issues.
 */
export const schemaTarget = target(
  'schema',
  random => {
    const root = object(random, 3)
    return {
      schema: random.once(4) ? root : { type: 'object', ...root },
      side: random.pick(['input', 'output'] as const),
      defaults: random.once(2),
      values: Array.from({ length: 3 }, () => JSON.parse(json(random, 4))),
    }
  },
  async ({ schema, side, defaults, values }) => {
    const compiled = attempt(() => compileSchema(schema, { what: 'fuzz', side, defaults }))
    if (compiled === undefined || !(await isUsable(compiled))) return
    for (const value of values) {
      const before = JSON.stringify(value)
      const checked = await compiled.check(value)
      assert.ok(checked.ok || checked.issues.length > 0, 'an invalid value has issues')
      if (checked.ok && !defaults) assert.equal(checked.value, value)
      if (checked.ok) assert.ok(keeps(checked.value, value), 'defaults replace nothing')
      assert.equal(JSON.stringify(value), before, 'validating changes nothing')
      // Of a root object nothing else is valid.
      if (checked.ok && compiled.isObjectRoot) assert.equal(typeof value, 'object')
    }
  },
)

/** Whether a value has all that another has, and perhaps more members of objects. */
function keeps(value: unknown, all: unknown): boolean {
  if (!isRecord(all) && !Array.isArray(all)) return value === all
  if (Array.isArray(all)) {
    return (
      Array.isArray(value) &&
      value.length === all.length &&
      all.every((item, at) => keeps(value[at], item))
    )
  }
  return (
    isRecord(value) &&
    Object.keys(all).every(name => Object.hasOwn(value, name) && keeps(value[name], all[name]))
  )
}

async function isUsable(compiled: Compiled<unknown>): Promise<boolean> {
  try {
    await compiled.prepare()
    return true
  } catch (error) {
    assert.ok(error instanceof SchemaError, `a SchemaError, not ${error}`)
    return false
  }
}

const names = ['a', 'b', 'constructor', '__proto__', 'é', '/', '~', ''] as const
const one = [
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'items',
  'contentSchema',
] as const
const references = [
  '#',
  '#/$defs/a',
  '#/properties/a',
  '#/properties/__proto__',
  '#/$defs/missing',
  '#anchor',
  'other.json',
  'https://example.com/schema',
  '#/%zz',
  '#/enum/0',
  'a',
] as const
const patterns = ['^a', '(a+)+$', '(', '^(?=a)', '(a)\\1', '[', '\\p{L}+', 'a{1,9999}'] as const
const types = ['object', 'string', 'number', 'integer', 'array', 'null', 'boolean', 'any'] as const

function object(random: Random, depth: number): Record<string, unknown> {
  const members = Array.from({ length: random.int(4) }, () => keyword(random, depth))
  // Not assigned, because "__proto__" is a key like any other.
  return Object.fromEntries(members)
}

function schema(random: Random, depth: number): unknown {
  if (depth === 0 || random.once(6)) {
    return random.pick<unknown>([true, false, {}, { type: 'string' }, { $ref: '#' }])
  }
  return random.once(20) ? random.pick<unknown>([null, 1, 'x', []]) : object(random, depth - 1)
}

function keyword(random: Random, depth: number): [string, unknown] {
  const list = () => Array.from({ length: random.int(3) }, () => schema(random, depth - 1))
  const map = () => Object.fromEntries(list().map(each => [random.pick(names), each] as const))
  switch (random.int(12)) {
    case 0:
      return ['type', random.once(3) ? [random.pick(types)] : random.pick(types)]
    case 1:
      return [random.pick(one), schema(random, depth - 1)]
    case 2:
      return [random.pick(['allOf', 'anyOf', 'oneOf', 'prefixItems']), list()]
    case 3:
      return [random.pick(['properties', '$defs', 'dependentSchemas', 'definitions']), map()]
    case 4:
      return [random.pick(['$ref', '$dynamicRef']), random.pick(references)]
    case 5:
      return ['pattern', random.pick(patterns)]
    case 6:
      return ['patternProperties', { [random.pick(patterns)]: schema(random, depth - 1) }]
    case 7:
      return ['required', [random.pick(names)]]
    case 8:
      return [random.pick(['$id', '$anchor', '$dynamicAnchor']), random.pick(['a', 'anchor', '#a'])]
    case 9:
      return [random.pick(['minimum', 'multipleOf', 'maxLength', 'minItems']), random.int(3)]
    case 10:
      return [random.pick(['$schema', '$async', 'nullable', 'id', 'format']), random.pick(dialects)]
    default:
      return [random.pick(['enum', 'const', 'uniqueItems', 'default']), JSON.parse(json(random, 2))]
  }
}

const dialects: readonly [unknown, ...unknown[]] = [
  'https://json-schema.org/draft/2020-12/schema',
  'http://json-schema.org/draft-07/schema#',
  'x',
  true,
  'email',
  'date-time',
]

/** Returns undefined if the function throws a SchemaError, which is what it documents. */
function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    assert.ok(error instanceof SchemaError, `a SchemaError, not ${error}`)
    return undefined
  }
}
