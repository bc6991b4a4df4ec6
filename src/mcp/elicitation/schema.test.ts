import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import { SchemaError } from '../schema/schema.ts'
import type { Schema } from '../schema/standard-schema.ts'
import { elicitationSchema, receivedForm } from './schema.ts'

const what = 'elicitation of tool "deploy"'
const object = (properties: object, required?: readonly string[]) => ({
  type: 'object',
  properties,
  ...(required && { required }),
})
const sent = (schema: Schema) => elicitationSchema(schema, what).requestedSchema
const sentOne = (property: unknown) => sent(object({ x: property })).properties.x

const colours = [
  { const: '#f00', title: 'Red' },
  { const: '#0f0', title: 'Green' },
]

describe('a form', () => {
  test.each([
    { type: 'string' },
    { type: 'string', title: 'T', description: 'D', minLength: 1, maxLength: 5, default: 'abc' },
    { type: 'string', format: 'email', default: 'a@b.example' },
    { type: 'string', format: 'uri' },
    { type: 'string', format: 'date' },
    { type: 'string', format: 'date-time' },
    { type: 'number', minimum: 0, maximum: 100, default: 95.5 },
    { type: 'integer', title: 'Age', default: 30 },
    { type: 'boolean', description: 'D', default: false },
    { type: 'string', enum: ['a', 'b'], default: 'a' },
    { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'], default: 'b' },
    { type: 'string', oneOf: colours, default: '#f00' },
    { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, default: ['a'] },
    { type: 'array', title: 'C', minItems: 1, maxItems: 2, items: { anyOf: colours } },
  ])('sends %j as it is', property => {
    expect(sentOne(property)).toEqual(property)
  })

  test.each([
    ['a choice without a type', { enum: ['a'] }, { type: 'string', enum: ['a'] }],
    ['a constant', { const: 'a' }, { type: 'string', enum: ['a'] }],
    [
      'alternatives',
      { anyOf: [{ const: 'a' }, { const: 'b' }] },
      { type: 'string', enum: ['a', 'b'] },
    ],
    ['titled alternatives', { anyOf: colours }, { type: 'string', oneOf: colours }],
    [
      'alternatives with some titles',
      { oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] },
      {
        type: 'string',
        oneOf: [
          { const: 'a', title: 'A' },
          { const: 'b', title: 'b' },
        ],
      },
    ],
    [
      'a list of alternatives',
      { type: 'array', items: { oneOf: [{ const: 'a' }] }, uniqueItems: true },
      { type: 'array', items: { type: 'string', enum: ['a'] } },
    ],
    [
      'a pattern beside a format',
      { type: 'string', format: 'email', pattern: '@' },
      { type: 'string', format: 'email' },
    ],
    [
      'an exclusive bound of an integer',
      { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 9 },
      { type: 'integer', minimum: 1, maximum: 8 },
    ],
    [
      'an exclusive bound of a number',
      { type: 'number', exclusiveMinimum: 0, minimum: -1 },
      { type: 'number', minimum: 0 },
    ],
    [
      'what asks for nothing',
      { type: 'boolean', 'x-order': 1, placeholder: '?' },
      { type: 'boolean' },
    ],
  ])('converts %s', (_, property, expected) => {
    expect(sentOne(property)).toEqual(expected)
  })

  test('may be empty, and says which fields are required', () => {
    expect(sent({ type: 'object' })).toEqual({ type: 'object', properties: {} })
    expect(
      sent({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        title: 'T',
        ...object({ a: { type: 'boolean' } }, ['a']),
        additionalProperties: false,
      }),
    ).toEqual(object({ a: { type: 'boolean' } }, ['a']))
  })

  const form = {
    name: { type: 'string', minLength: 2 },
    mail: { type: 'string', format: 'email' },
    age: { type: 'integer', minimum: 1 },
    ok: { type: 'boolean' },
    size: { type: 'string', enum: ['s', 'm'] },
    tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
  }

  test('is made of a schema of Zod', () => {
    const schema = z.object({
      name: z.string().min(2),
      mail: z.email(),
      age: z.int32().min(1),
      ok: z.boolean().default(true),
      size: z.enum(['s', 'm']).optional(),
      tags: z.array(z.enum(['a', 'b'])),
      colour: z.union([
        z.literal('#f00').meta({ title: 'Red' }),
        z.literal('#0f0').meta({ title: 'Green' }),
      ]),
    })
    const made = elicitationSchema(schema, what)
    expect(made.requestedSchema).toEqual(
      object(
        {
          ...form,
          age: { type: 'integer', minimum: 1, maximum: 2147483647 },
          ok: { type: 'boolean', default: true },
          colour: { type: 'string', oneOf: colours },
        },
        ['name', 'mail', 'age', 'tags', 'colour'],
      ),
    )
    const answer = { name: 'Ann', mail: 'a@b.example', age: 3, tags: ['a'], colour: '#f00' }
    expect(made.check(answer)).toEqual({ ok: true, value: { ...answer, ok: true } })
    type Answer = Extract<Awaited<ReturnType<typeof made.check>>, { ok: true }>['value']
    expectTypeOf<Answer['size']>().toEqualTypeOf<'s' | 'm' | undefined>()
    expectTypeOf<Answer['ok']>().toEqualTypeOf<boolean>()
  })

  test('is made of a schema of Valibot', () => {
    const schema = v.object({
      name: v.pipe(v.string(), v.minLength(2)),
      mail: v.pipe(v.string(), v.email()),
      age: v.pipe(v.number(), v.integer(), v.minValue(1)),
      ok: v.boolean(),
      size: v.optional(v.picklist(['s', 'm'])),
      tags: v.array(v.picklist(['a', 'b'])),
    })
    expect(sent(toStandardJsonSchema(schema))).toEqual(
      object(form, ['name', 'mail', 'age', 'ok', 'tags']),
    )
  })

  test('is made of a schema of ArkType', () => {
    const schema = type({
      name: 'string >= 2',
      mail: 'string.email',
      age: 'number.integer >= 1',
      ok: 'boolean',
      'size?': "'s' | 'm'",
      tags: "('a' | 'b')[]",
    })
    const { properties, required } = sent(schema)
    // ArkType sorts what there is to choose from.
    expect(properties).toEqual({ ...form, size: { type: 'string', enum: ['m', 's'] } })
    expect([...(required ?? [])].sort()).toEqual(['age', 'mail', 'name', 'ok', 'tags'])
  })

  test('a response is checked against constraints that no form can show', async () => {
    const refined = elicitationSchema(
      z.object({ code: z.string().refine(code => code === 'ok', 'wrong code') }),
      what,
    )
    expect(refined.requestedSchema).toEqual(object({ code: { type: 'string' } }, ['code']))
    expect(refined.check({ code: 'no' })).toEqual({
      ok: false,
      issues: [{ path: ['code'], message: 'wrong code' }],
    })
    const later = elicitationSchema(
      z.object({ code: z.string().refine(async code => code === 'ok', 'wrong code') }),
      what,
    )
    expect(await later.check({ code: 'ok' })).toEqual({ ok: true, value: { code: 'ok' } })
  })

  test.each([
    ['a list', { type: 'array' }, /a form must be an object/],
    ['an alternative', { anyOf: [object({})] }, /a form must be an object/],
    ['conditions', { ...object({}), if: true }, /has "if", which forms do not support/],
    ['a name it does not have', object({}, ['x']), /requires an undefined property/],
    ['an object in it', object({ x: object({}) }), /: property "x" must be a string, a number/],
    [
      'a list of strings',
      object({ x: { type: 'array', items: { type: 'string' } } }),
      /"x" must be an array of choices/,
    ],
    ['a list of anything', object({ x: { type: 'array' } }), /"x" must be an array of choices/],
    [
      'a value that may be null',
      object({ x: { type: ['string', 'null'] } }),
      /"x" must be a string/,
    ],
    ['anything', object({ x: {} }), /"x" must be a string/],
    ['a boolean for a schema', object({ x: true }), /"x" has no schema/],
    ['a reference', { ...object({ x: { $ref: '#/$defs/y' } }), $defs: {} }, /"x" must be/],
    ['a choice of numbers', object({ x: { enum: [1, 2] } }), /must be a choice of strings/],
    [
      'a choice of schemas',
      object({ x: { anyOf: [{ type: 'string' }] } }),
      /must be a choice of strings/,
    ],
    ['a choice of nothing', object({ x: { enum: [] } }), /must be a choice of strings/],
    [
      'a pattern',
      object({ x: { type: 'string', pattern: '^a' } }),
      /"x" has "pattern", which forms do not/,
    ],
    [
      'another format',
      object({ x: { type: 'string', format: 'uuid' } }),
      /email, uri, date, date-time/,
    ],
    ['a step', object({ x: { type: 'number', multipleOf: 5 } }), /"multipleOf"/],
    ['a text for a bound', object({ x: { type: 'number', minimum: '1' } }), /"minimum"/],
    ['a wrong default', object({ x: { type: 'integer', default: 1.5 } }), /expected integer/],
    ['a default out of reach', object({ x: { enum: ['a'], default: 'b' } }), /expected one of "a"/],
    ['a field of Zod', z.object({ x: z.string().nullable() }), /"x" must be a string/],
    ['Valibot alone', v.object({ x: v.string() }), /wrap it with toStandardJsonSchema/],
  ])('cannot be made of %s', (_, schema, message) => {
    const make = () => elicitationSchema(schema, what)
    expect(make).toThrow(SchemaError)
    expect(make).toThrow(`${what}: `)
    expect(make).toThrow(message)
  })
})

describe('a response to a form', () => {
  const { check, applyDefaults } = elicitationSchema(
    object(
      {
        name: { type: 'string', minLength: 2, maxLength: 3 },
        mail: { type: 'string', format: 'email' },
        age: { type: 'integer', minimum: 1, maximum: 9 },
        rate: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1, default: 0.5 },
        ok: { type: 'boolean', default: false },
        size: { type: 'string', enum: ['s', 'm'] },
        tags: {
          type: 'array',
          items: { enum: ['a', 'b'] },
          minItems: 1,
          maxItems: 2,
          default: ['a'],
        },
        constructor: { type: 'string' },
      },
      ['name'],
    ),
    what,
  )

  test.each([
    { name: 'Ann' },
    { name: '😀😀😀' },
    { name: 'Ann', mail: 'a@b.example', age: 9, rate: 0.1, ok: true, size: 'm', tags: ['b', 'a'] },
    { name: 'Ann', other: 5 },
    { name: 'Ann', age: undefined },
  ])('%j fits', content => {
    expect(check(content)).toEqual({ ok: true, value: content })
  })

  test.each([
    [undefined, [], 'expected object'],
    [[], [], 'expected object'],
    [{}, ['name'], 'is required'],
    [{ name: undefined }, ['name'], 'is required'],
    [{ name: null }, ['name'], 'expected string'],
    [{ name: 'A' }, ['name'], 'must have 2 characters or more'],
    [{ name: '😀' }, ['name'], 'must have 2 characters or more'],
    [{ name: 'Anna' }, ['name'], 'must have 3 characters or fewer'],
    [{ name: 'Ann', mail: 'a' }, ['mail'], 'expected the format email'],
    [{ name: 'Ann', age: 1.5 }, ['age'], 'expected integer'],
    [{ name: 'Ann', age: '1' }, ['age'], 'expected integer'],
    [{ name: 'Ann', age: 0 }, ['age'], 'must be >= 1'],
    [{ name: 'Ann', age: 10 }, ['age'], 'must be <= 9'],
    [{ name: 'Ann', rate: 0 }, ['rate'], 'must be > 0'],
    [{ name: 'Ann', rate: 1 }, ['rate'], 'must be < 1'],
    [{ name: 'Ann', rate: Number.NaN }, ['rate'], 'expected number'],
    [{ name: 'Ann', ok: 'yes' }, ['ok'], 'expected boolean'],
    [{ name: 'Ann', size: 'x' }, ['size'], 'expected one of "s", "m"'],
    [{ name: 'Ann', tags: 'a' }, ['tags'], 'expected array'],
    [{ name: 'Ann', tags: [] }, ['tags'], 'must have 1 items or more'],
    [{ name: 'Ann', tags: ['a', 'b', 'a'] }, ['tags'], 'must have 2 items or fewer'],
    [{ name: 'Ann', tags: ['c'] }, ['tags'], 'expected one of "a", "b"'],
  ])('%j does not', (content, path, message) => {
    expect(check(content)).toEqual({ ok: false, issues: [{ path, message }] })
  })

  test('gets the defaults of missing fields', () => {
    const content = { name: 'Ann', ok: true, rate: undefined }
    expect(applyDefaults(content)).toEqual({ name: 'Ann', ok: true, rate: 0.5, tags: ['a'] })
    expect(content).toEqual({ name: 'Ann', ok: true, rate: undefined })
  })

  test('gets the defaults of a received form, however odd', () => {
    const form = receivedForm({
      type: 'object',
      properties: {
        code: { type: 'string', pattern: '^a', default: 'b' },
        deep: { type: 'object', default: { a: 1 } },
        age: { type: 'integer', default: 30 },
        broken: 5,
      },
      required: ['code', 'gone', 7],
    })
    expect(form.applyDefaults({})).toEqual({ code: 'b', deep: { a: 1 }, age: 30 })
    expect(form.check({ code: 1, gone: 0, age: 'x' })).toEqual({
      ok: false,
      issues: [{ path: ['age'], message: 'expected integer' }],
    })
    expect(form.check({ age: 1 })).toMatchObject({
      ok: false,
      issues: [{ path: ['code'] }, { path: ['gone'] }],
    })
  })

  test.each([undefined, null, 5, [], {}, { properties: [] }, { required: 5 }])(
    'is let through where %j is the form',
    requested => {
      expect(receivedForm(requested).check({ a: 1 })).toEqual({ ok: true, value: { a: 1 } })
      expect(receivedForm(requested).applyDefaults({ a: 1 })).toEqual({ a: 1 })
    },
  )
})

describe('a form for the first revision with forms', () => {
  const properties = {
    name: { type: 'string', title: 'Name', minLength: 1, format: 'email', default: 'a@b.example' },
    age: { type: 'integer', minimum: 1, default: 3 },
    ok: { type: 'boolean', default: true },
    size: { type: 'string', enum: ['s', 'm'], default: 's' },
    old: { type: 'string', enum: ['s', 'm'], enumNames: ['Small', 'Medium'], default: 's' },
    colour: { type: 'string', oneOf: colours, default: '#f00' },
  }

  test('has defaults for booleans alone, and names for options', () => {
    expect(elicitationSchema(object(properties, ['name']), what).basic.requestedSchema).toEqual(
      object(
        {
          name: { type: 'string', title: 'Name', minLength: 1, format: 'email' },
          age: { type: 'integer', minimum: 1 },
          ok: { type: 'boolean', default: true },
          size: { type: 'string', enum: ['s', 'm'] },
          old: { type: 'string', enum: ['s', 'm'], enumNames: ['Small', 'Medium'] },
          colour: { type: 'string', enum: ['#f00', '#0f0'], enumNames: ['Red', 'Green'] },
        },
        ['name'],
      ),
    )
  })

  const { basic } = elicitationSchema(
    object(
      {
        tags: {
          type: 'array',
          title: 'Tags',
          description: 'D',
          items: { anyOf: colours },
          default: ['#0f0'],
        },
        'tags.1': { type: 'string' },
        more: { type: 'array', items: { enum: ['x'] } },
      },
      ['tags', 'tags.1'],
    ),
    what,
  )

  test('has a boolean for each option of a multiple choice', () => {
    expect(basic.requestedSchema).toEqual(
      object(
        {
          'tags.1_': { type: 'boolean', title: 'Tags: Red', description: 'D', default: false },
          'tags.2': { type: 'boolean', title: 'Tags: Green', description: 'D', default: true },
          'tags.1': { type: 'string' },
          'more.1': { type: 'boolean', title: 'more: x', default: false },
        },
        ['tags.1'],
      ),
    )
  })

  test.each([
    [
      { 'tags.1_': true, 'tags.2': true, 'tags.1': 'a' },
      { tags: ['#f00', '#0f0'], 'tags.1': 'a' },
    ],
    [
      { 'tags.1_': false, 'more.1': true },
      { tags: [], more: ['x'] },
    ],
    [
      { 'tags.1': 'a', other: 1 },
      { 'tags.1': 'a', other: 1 },
    ],
  ])('%j is converted into content for the original form', (content, restored) => {
    expect(basic.restore(content)).toEqual(restored)
  })
})
