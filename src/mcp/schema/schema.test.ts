import { toJsonSchema, toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import * as mini from 'zod/mini'
import * as z3 from 'zod/v3'
import { withJsonSchema } from './convert.ts'
import { issueText } from './issues.ts'
import { checkerOf, compileSchema, SchemaError } from './schema.ts'
import type { Schema, StandardSchema } from './standard-schema.ts'

const what = 'tool "forecast" input'
const input = (schema?: Schema) => compileSchema(schema, { what })
const output = (schema: Schema) => compileSchema(schema, { what, side: 'output' })

const published = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'number' } },
  required: ['city'],
}

const bareValibot = v.object({ city: v.string(), days: v.optional(v.number()) })

const same: readonly (readonly [string, Schema])[] = [
  ['Zod', z.object({ city: z.string(), days: z.number().optional() })],
  ['Valibot, wrapped', toStandardJsonSchema(bareValibot)],
  [
    'Valibot with its JSON Schema',
    withJsonSchema(bareValibot, { ...toJsonSchema(bareValibot, { target: 'draft-2020-12' }) }),
  ],
  ['ArkType', type({ city: 'string', 'days?': 'number' })],
  ['plain JSON Schema', published],
  [
    'Zod before Standard JSON Schema',
    older(z.object({ city: z.string(), days: z.number().optional() }), 'toJSONSchema'),
  ],
  ['ArkType before Standard JSON Schema', older(type({ city: 'string', 'days?': 'number' }), 'in')],
]

/** A schema as an earlier version of its library would make it. */
function older(schema: StandardSchema, member: string): StandardSchema {
  const { version, vendor, validate } = schema['~standard']
  return Object.assign(
    { '~standard': { version, vendor, validate } },
    { [member]: Reflect.get(schema, member) },
  )
}

describe.each(same)('an input schema of %s', (_, schema) => {
  test('is published as JSON Schema', () => {
    const { jsonSchema, isObjectRoot } = input(schema)
    expect(jsonSchema).toEqual(published)
    expect(isObjectRoot).toBe(true)
    expect(Object.isFrozen(jsonSchema)).toBe(true)
    expect(Object.isFrozen(jsonSchema.properties)).toBe(true)
    expect(JSON.stringify(input(schema).jsonSchema)).toBe(JSON.stringify(jsonSchema))
  })

  test('accepts valid values and reports the issues of others', async () => {
    const compiled = input(schema)
    await compiled.prepare()
    // Without a promise on the way.
    expect(compiled.check({ city: 'Paris' })).toEqual({ ok: true, value: { city: 'Paris' } })
    const result = compiled.check({ city: 5 })
    expect(result).toMatchObject({ ok: false, issues: [{ path: ['city'] }] })
    expect('issues' in result && issueText(result.issues)).toMatch(/^city.*string/)
    expect(compiled.check({})).toMatchObject({ ok: false, issues: [{ path: ['city'] }] })
    expect(compiled.check(undefined)).toMatchObject({ ok: false, issues: [{ path: [] }] })
    expect(await checkerOf(schema, what).check({ city: 'Paris' })).toMatchObject({ ok: true })
  })
})

describe('what a schema is published as', () => {
  test('an object without members where there is none', () => {
    const none = input()
    expect(none.jsonSchema).toEqual({ type: 'object', additionalProperties: false })
    expect(none.check({})).toEqual({ ok: true, value: {} })
    expect(none.check({ a: 1 })).toEqual({
      ok: false,
      issues: [{ path: ['a'], message: 'is not a known property' }],
    })
    expect(none.check([])).toMatchObject({ ok: false })
  })

  test('its input type for input, and its output type for output', () => {
    const schema = z.object({
      days: z.number().default(3),
      at: z.string().transform(Number).pipe(z.number()),
    })
    expect(input(schema).jsonSchema).toMatchObject({
      properties: { days: { type: 'number' }, at: { type: 'string' } },
      required: ['at'],
    })
    expect(output(schema).jsonSchema).toMatchObject({
      properties: { at: { type: 'number' } },
      required: ['days', 'at'],
    })
    expect(input(schema).check({ at: '7' })).toEqual({ ok: true, value: { days: 3, at: 7 } })
  })

  test('a plain one is published unchanged, including its dialect', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { address: { $anchor: 'addressDef', type: 'object', properties: {} } },
      properties: { address: { $ref: '#/$defs/address' }, named: { $ref: '#addressDef' } },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { a: { const: 'x' } } },
      else: { required: ['email'] },
      additionalProperties: false,
      'x-mine': [1],
    }
    expect(JSON.stringify(input(schema).jsonSchema)).toBe(JSON.stringify(schema))
  })

  test('a plain one cannot be changed afterwards', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    const { jsonSchema } = input(schema)
    schema.properties.a.type = 'number'
    expect(jsonSchema).toEqual({ type: 'object', properties: { a: { type: 'string' } } })
  })

  const branch = { type: 'object', properties: { k: { const: 'a' } } }
  test.each<readonly [string, Schema]>([
    [
      'a discriminated union',
      z.discriminatedUnion('k', [
        z.object({ k: z.literal('a') }),
        z.object({ k: z.literal('b'), x: z.string() }),
      ]),
    ],
    ['an intersection', z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() }))],
    ['a union of ArkType', type({ k: "'a'" }).or({ k: "'b'" })],
    ['alternatives', { anyOf: [branch, branch] }],
    [
      'a reference',
      { $ref: '#/$defs/a', $defs: { a: { oneOf: [{ $ref: '#/$defs/b' }] }, b: branch } },
    ],
    ['a list of one type', { type: ['object'] }],
  ])('%s of objects says that it is an object', (_, schema) => {
    for (const compiled of [input(schema), output(schema)]) {
      expect(compiled.jsonSchema.type).toBe('object')
      expect(compiled.isObjectRoot).toBe(true)
    }
  })

  test('a union is checked as one', () => {
    const union = z.discriminatedUnion('k', [
      z.object({ k: z.literal('a') }),
      z.object({ k: z.literal('b') }),
    ])
    expect(input(union).check({ k: 'b' })).toEqual({ ok: true, value: { k: 'b' } })
    expect(input(union).check({ k: 'c' })).toMatchObject({ ok: false })
  })

  test('properties alone imply an object for input', () => {
    expect(input({ properties: {} }).jsonSchema).toEqual({ type: 'object', properties: {} })
    expect(output({ properties: {} })).toMatchObject({
      jsonSchema: { properties: {} },
      isObjectRoot: false,
    })
  })

  test.each<readonly [string, Schema, object]>([
    ['a list', z.array(z.string()), { type: 'array', items: { type: 'string' } }],
    ['a text', type('string'), { type: 'string' }],
    [
      'alternatives',
      { anyOf: [{ type: 'object' }, { type: 'null' }] },
      { anyOf: [{ type: 'object' }, { type: 'null' }] },
    ],
    ['a loop', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }, {}],
    ['anything', {}, {}],
  ])('%s is allowed for output, but not for input', (_, schema, expected) => {
    expect(output(schema)).toMatchObject({ jsonSchema: expected, isObjectRoot: false })
    expect(() => input(schema)).toThrow(`${what}: the schema must have "type": "object"`)
  })

  test('a recursive schema refers to itself', () => {
    const node = z.object({
      name: z.string(),
      get children() {
        return z.array(node)
      },
    })
    const { jsonSchema, check } = input(node)
    expect(JSON.stringify(jsonSchema)).toContain('"$ref":"#"')
    expect(check({ name: 'a', children: [{ name: 'b', children: [] }] })).toMatchObject({
      ok: true,
    })
  })
})

describe('a schema that cannot be published is refused at once', () => {
  test.each<readonly [string, unknown, RegExp]>([
    ['Valibot alone', bareValibot, /wrap it with toStandardJsonSchema of @valibot\/to-json-schema/],
    [
      'Zod Mini',
      mini.object({ a: mini.string() }),
      /withJsonSchema\(schema, z.toJSONSchema\(schema\)\)/,
    ],
    ['Zod 3', z3.z.object({ a: z3.z.string() }), /use Zod 4/],
    [
      'another library',
      other({}),
      /this schema of acme cannot be converted into JSON Schema; write withJsonSchema/,
    ],
    [
      'a date',
      z.object({ a: z.date() }),
      /zod cannot convert this schema into JSON Schema: Date cannot/,
    ],
    [
      'something odd',
      other({ jsonSchema: { input: () => 'text' } }),
      /acme does not convert this schema/,
    ],
    ['anything at all', z.any(), /the schema is empty: omit it/],
    ['schemas by name', { a: z.string(), b: z.number() }, /combine them into one, as in z.object/],
    ['a text', 'string', /this is not a schema/],
    ['null', null, /this is not a schema/],
    ['an array', [], /this is not a schema/],
    ['a circle', circle(), /not made of JSON/],
    ['too many schemas', { type: 'object', allOf: Array(2000).fill({}) }, /more than 2000 schemas/],
    [
      'another dialect',
      { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' },
      /draft-04\/schema#" is not supported; use JSON Schema 2020-12 or draft-07/,
    ],
    [
      'a reference out of it',
      { type: 'object', properties: { a: { $ref: 'https://x.example/a' } } },
      /refers to another document, which is never fetched: https:\/\/x.example\/a/,
    ],
  ])('%s', (_, schema, message) => {
    // The check: none; untyped programs pass anything.
    const compile = () => input(schema as Schema)
    expect(compile).toThrow(SchemaError)
    expect(compile).toThrow(`${what}: `)
    expect(compile).toThrow(message)
  })

  test('a JSON Schema can be attached to a schema without one', () => {
    const schema = mini.object({ a: mini.string() })
    const attached = withJsonSchema(schema, {
      type: 'object',
      properties: { a: { type: 'string' } },
    })
    const compiled = compileSchema(attached, { what })
    expect(compiled.jsonSchema).toEqual({ type: 'object', properties: { a: { type: 'string' } } })
    expect(compiled.check({ a: 'x' })).toEqual({ ok: true, value: { a: 'x' } })
    expectTypeOf(compiled.check).returns.resolves.extract<{ ok: true }>().toEqualTypeOf<{
      readonly ok: true
      readonly value: { a: string }
    }>()
  })
})

function other(more: object): StandardSchema {
  return {
    '~standard': { version: 1, vendor: 'acme', validate: value => ({ value }), ...more },
  }
}

function circle(): object {
  const schema: Record<string, unknown> = { type: 'object' }
  schema.self = schema
  return schema
}

describe('checking', () => {
  test('is asynchronous where the schema is', async () => {
    const compiled = input(z.object({ a: z.string().refine(async a => a === 'x', 'must be x') }))
    const result = compiled.check({ a: 'y' })
    expect(result).toBeInstanceOf(Promise)
    expect(await result).toEqual({ ok: false, issues: [{ path: ['a'], message: 'must be x' }] })
    expect(await compiled.check({ a: 'x' })).toEqual({ ok: true, value: { a: 'x' } })
  })

  test('propagates exceptions of a schema', () => {
    const broken = withJsonSchema(
      {
        '~standard': {
          version: 1,
          vendor: 'acme',
          validate: () => {
            throw new Error('boom')
          },
        },
      },
      { type: 'object' },
    )
    expect(() => input(broken).check({})).toThrow('boom')
  })

  test('gives the paths of all libraries in one form', () => {
    const paths = [
      z.object({ a: z.array(z.object({ b: z.string() })) }),
      type({ a: type({ b: 'string' }).array() }),
    ]
    for (const schema of paths) {
      expect(input(schema).check({ a: [{ b: 1 }] })).toMatchObject({
        issues: [{ path: ['a', 0, 'b'] }],
      })
    }
    const valibot = v.object({ a: v.array(v.object({ b: v.string() })) })
    expect(checkerOf(valibot, what).check({ a: [{ b: 1 }] })).toMatchObject({
      issues: [{ path: ['a', 0, 'b'] }],
    })
    const symbolic = other({
      validate: () => ({ issues: [{ message: 'm', path: [Symbol('s'), { key: 1 }] }] }),
    })
    expect(checkerOf(symbolic, what).check(1)).toEqual({
      ok: false,
      issues: [{ path: ['Symbol(s)', 1], message: 'm' }],
    })
  })

  test('a plain schema that breaks the rules of its dialect is rejected before or at its first use', async () => {
    const compiled = input({ type: 'object', properties: { a: { minimum: 'one' } } })
    const fault = /^tool "forecast" input: schema is invalid: .*minimum must be number/
    await expect(compiled.prepare()).rejects.toThrow(SchemaError)
    await expect(compiled.prepare()).rejects.toThrow(fault)
    await expect(async () => compiled.check({})).rejects.toThrow(fault)
  })
})
