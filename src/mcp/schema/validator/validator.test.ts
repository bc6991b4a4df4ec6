import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { proves } from '../../../../test/requirements.ts'
import type { JsonSchema } from '../../types/base.ts'
import { issueText } from '../issues.ts'
import { checkSchema } from '../json-schema.ts'
import { type Engine, loadEngine } from './validator.ts'

let engine: Engine
beforeAll(async () => {
  engine = await loadEngine()
})

const check = (schema: JsonSchema, value: unknown) => {
  checkSchema(schema)
  return engine.compile(schema)(value)
}
const says = (schema: JsonSchema, value: unknown) => {
  const result = check(schema, value)
  return result.ok ? 'ok' : issueText(result.issues)
}

const range = <T>(length: number, item: (index: number) => T) =>
  Array.from({ length }, (_, index) => item(index))

const key = fc.constantFrom('a', 'b', 'c')
const value = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(
      '',
      'a',
      'ab',
      'abc',
      'a@b.example',
      '2024-02-29',
      0,
      1,
      1.5,
      -2,
      10,
      true,
      false,
      null,
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value

const small = fc.nat({ max: 3 })
const few = <T>(item: fc.Arbitrary<T>) => fc.array(item, { minLength: 1, maxLength: 2 })
const { schema } = fc.letrec<{ schema: object | boolean; object: object }>(tie => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.boolean(),
    fc.record({
      type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object'),
    }),
    fc.record({
      type: fc.uniqueArray(fc.constantFrom('string', 'number', 'null', 'array'), { minLength: 1 }),
    }),
    fc.record({ enum: fc.array(value, { minLength: 1, maxLength: 3 }) }),
    fc.record({ const: value }),
    fc.record(
      { minLength: small, maxLength: small, pattern: fc.constantFrom('^a', 'b$', '^(a|b)+$') },
      { requiredKeys: [] },
    ),
    fc.record(
      { minimum: small, exclusiveMaximum: small, multipleOf: fc.constantFrom(1, 2, 0.5) },
      { requiredKeys: [] },
    ),
    fc.constant({ $ref: '#' }),
    fc.constant({ $ref: '#/$defs/x' }),
    tie('object'),
  ),
  // A few keywords of many: with half of them at every level a schema may take minutes.
  object: fc
    .array(
      fc.oneof(
        fc.record({ type: fc.constantFrom('object', 'array') }),
        fc.record({ properties: fc.dictionary(key, tie('schema'), { maxKeys: 3 }) }),
        fc.record({ required: fc.uniqueArray(key) }),
        fc.record({ additionalProperties: tie('schema') }),
        fc.record({ unevaluatedProperties: tie('schema') }),
        fc.record({
          patternProperties: fc.dictionary(fc.constantFrom('^a', 'b|c'), tie('schema'), {
            maxKeys: 2,
          }),
        }),
        fc.record({ propertyNames: tie('schema') }),
        fc.record({ minProperties: small }),
        fc.record({ dependentRequired: fc.dictionary(key, fc.uniqueArray(key), { maxKeys: 2 }) }),
        fc.record({ prefixItems: few(tie('schema')) }),
        fc.record({ items: tie('schema') }),
        fc.record({ contains: tie('schema') }),
        fc.record({ minItems: small }),
        fc.record({ maxItems: small }),
        fc.record({ uniqueItems: fc.boolean() }),
        fc.record({ allOf: few(tie('schema')) }),
        fc.record({ anyOf: few(tie('schema')) }),
        fc.record({ oneOf: few(tie('schema')) }),
        fc.record({ not: tie('schema') }),
        fc.record({ if: tie('schema'), else: tie('schema') }),
      ),
      { maxLength: 4, size: 'max' },
    )
    .map(keywords => Object.assign({}, ...keywords)),
}))

describe('a compiled JSON Schema', () => {
  test('returns what the engine alone returns', () => {
    const plain = new Ajv2020({ strict: false, logger: false, multipleOfPrecision: 9 })
    fc.assert(
      fc.property(
        schema,
        schema,
        fc.array(value, { minLength: 1, maxLength: 10 }),
        (root, x, values) => {
          const whole = { $defs: { x }, allOf: [root] }
          let judge: (value: unknown) => unknown
          try {
            judge = plain.compile(structuredClone(whole))
            for (const each of values) judge(each)
          } catch {
            // A reference that leads to itself.
            return
          }
          checkSchema(whole)
          const validate = engine.compile(whole)
          for (const each of values) {
            const result = validate(each)
            expect([each, result.ok]).toEqual([each, judge(each)])
            if (!result.ok) expect(result.issues.length).toBeGreaterThan(0)
          }
        },
      ),
      { numRuns: 200 },
    )
  })

  test('of draft-07 is read as such', () => {
    const tuple = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      items: [{ type: 'string' }],
      additionalItems: false,
    }
    expect(new Ajv({ strict: false }).validate(tuple, ['a', 1])).toBe(false)
    expect(check(tuple, ['a'])).toMatchObject({ ok: true })
    expect(check(tuple, ['a', 1])).toMatchObject({ ok: false })
    expect(
      check(
        { $schema: 'https://json-schema.org/draft-07/schema', dependencies: { a: ['b'] } },
        { a: 1 },
      ),
    ).toMatchObject({ ok: false })
  })

  const address = {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city', 'zip'],
  }
  test.each<readonly [JsonSchema, unknown, string]>([
    [{ type: 'string' }, 5, 'expected string'],
    [{ type: ['string', 'null'] }, 5, 'expected string or null'],
    [{ properties: { city: { type: 'string' } } }, { city: 5 }, 'city: expected string'],
    [{ properties: { a: address } }, { a: {} }, 'a.city: is required; a.zip: is required'],
    [
      { items: { properties: { 'first name': { const: 1 } } } },
      [0, { 'first name': 2 }],
      '[1]["first name"]: expected 1',
    ],
    [{ items: { items: { minimum: 3 } } }, [[], [5, 2]], '[1][1]: must be >= 3'],
    [
      { additionalProperties: false, properties: {} },
      { extra: 1 },
      'extra: is not a known property',
    ],
    [{ unevaluatedProperties: false }, { extra: 1 }, 'extra: is not a known property'],
    [{ enum: ['a', 'b', 3] }, 'c', 'expected one of "a", "b", 3'],
    [
      { enum: Array.from({ length: 20 }, (_, index) => index) },
      'c',
      'expected one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …',
    ],
    [{ enum: [] }, 'c', 'is not allowed, because the list of allowed values is empty'],
    [
      { $schema: 'http://json-schema.org/draft-07/schema#', properties: { a: { enum: [] } } },
      { a: 1 },
      'a: is not allowed, because the list of allowed values is empty',
    ],
    [{ properties: { a: { enum: [] } } }, {}, 'ok'],
    [{ enum: [{ a: [1] }, 'x'] }, { a: [1] }, 'ok'],
    [{ enum: ['x'.repeat(100)] }, 'x'.repeat(100), 'ok'],
    [{ const: { a: 1, b: [null] } }, { b: [null], a: 1 }, 'ok'],
    [{ const: { a: 1 } }, { a: 2 }, 'expected {"a":1}'],
    [{ contains: { const: 1 } }, [2, 3], 'must contain at least 1 valid item(s)'],
    [{ minLength: 2 }, '😀', 'must NOT have fewer than 2 characters'],
    [{ uniqueItems: true }, ['[1]', [1], '"a', 'a'], 'ok'],
    [{ format: 'email' }, 'c', 'expected an email'],
    [{ format: 'uri' }, 'c', 'expected a uri'],
    [{ format: 'date-time' }, 'c', 'expected a date-time'],
    [{ format: 'int64' }, 'c', 'ok'],
    [{ pattern: '^a' }, 'c', 'must match pattern "^a"'],
    [
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      'has duplicate items',
    ],
    [{ uniqueItems: true }, [1, '1', true, [1], null], 'ok'],
    [{ uniqueItems: false }, [1, 1], 'ok'],
    [{ not: { type: 'string' } }, 'c', 'is not allowed'],
    [{ properties: { a: false } }, { a: 1 }, 'a: is not allowed'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, true, 'expected string or number'],
    [
      { anyOf: [{ type: 'string' }, address] },
      {},
      'expected string; city: is required; zip: is required',
    ],
    [
      { oneOf: [{ type: 'string' }, { minLength: 1 }] },
      'a',
      'matches more than one of the allowed schemas',
    ],
    [{ if: { type: 'string' }, else: { minimum: 3 } }, 2, 'must be >= 3'],
    [{ multipleOf: 0.01 }, 19.99, 'ok'],
    [{ multipleOf: 0.01 }, 19.995, 'must be multiple of 0.01'],
    [{ maxLength: 1 }, '😀', 'ok'],
    [
      { properties: { constructor: { type: 'string' } }, required: ['toString'] },
      {},
      'toString: is required',
    ],
    [{ properties: { constructor: { type: 'string' } } }, {}, 'ok'],
    [{ type: 'string', nullable: true }, null, 'expected string'],
    [{ $async: true, type: 'string' }, 5, 'expected string'],
    [{ id: 'x', type: 'string' }, 'a', 'ok'],
    [{ type: 'integer', default: 3 }, undefined, 'expected integer'],
  ])('%j says of %j: %s', (rule, subject, text) => {
    expect(says(rule, subject)).toBe(text)
  })

  test('neither changes a value nor fills in its defaults', () => {
    const subject = Object.freeze({ a: '1' })
    const result = check({ properties: { a: { type: 'string' }, b: { default: 2 } } }, subject)
    expect(result).toEqual({ ok: true, value: { a: '1' } })
    expect('value' in result && result.value).toBe(subject)
  })

  test('may have the same names for its parts as another one', () => {
    for (const type of ['string', 'number']) {
      const named = { $id: 'https://x.example/a', $ref: 'b', $defs: { b: { $id: 'b', type } } }
      expect(check(named, 'text').ok).toBe(type === 'string')
      expect(check({ $ref: '#b', $defs: { b: { $anchor: 'b', type } } }, 'text').ok).toBe(
        type === 'string',
      )
    }
  })

  test.each([
    [{ minimum: 'one' }, /schema is invalid/],
    [{ items: [{}] }, /schema is invalid/],
    [{ properties: { a: { minLength: -1 } } }, /schema is invalid/],
  ])('%j breaks a rule of its dialect', (wrong, message) => {
    expect(() => engine.compile(wrong)).toThrow(message)
  })
})

describe('a hostile schema or value', () => {
  test('cannot make references multiply', () => {
    proves('B19')
    const $defs: Record<string, object> = { d40: { type: 'string' } }
    for (let level = 0; level < 40; level++) {
      const next = { $ref: `#/$defs/d${level + 1}` }
      $defs[`d${level}`] = { allOf: [next, next] }
    }
    expect(says({ $ref: '#/$defs/d0', $defs }, 'a')).toBe('cannot be checked: takes too many steps')
  })

  test('cannot make code multiply', () => {
    proves('B19')
    const part = {
      properties: Object.fromEntries(range(500, index => [`p${index}`, { maximum: 1 }])),
    }
    const schema = { allOf: range(500, () => ({ $ref: '#/$defs/part' })), $defs: { part } }
    expect(says(schema, { p499: 2 })).toBe('p499: must be <= 1')
  })

  test('cannot make attempts multiply', () => {
    proves('B19')
    const again = { properties: { a: { $ref: '#' } } }
    const rule = {
      anyOf: [
        { ...again, required: ['x'] },
        { ...again, required: ['y'] },
      ],
    }
    let deep: object = {}
    for (let level = 0; level < 40; level++) deep = { a: deep }
    expect(says(rule, deep)).not.toBe('ok')
    const all = { allOf: [again, again] }
    expect(says(all, deep)).toBe('cannot be checked: takes too many steps')
  })

  test('cannot refer to itself without end', () => {
    expect(says({ $ref: '#' }, 1)).toMatch(/^cannot be checked/)
    expect(
      says({ anyOf: [{ $ref: '#/$defs/a' }], $defs: { a: { not: { $ref: '#' } } } }, 1),
    ).toMatch(/^cannot be checked/)
  })

  test('cannot compare each item with each other one', () => {
    const items = range(50_000, index => ({ index }))
    expect(says({ uniqueItems: true }, items)).toBe('ok')
    expect(says({ uniqueItems: true }, [...items, { index: 7 }])).toBe('has duplicate items')
  })

  test('cannot keep a pattern busy', () => {
    expect(says({ pattern: '^(a+)+$' }, `${'a'.repeat(50)}!`)).toMatch(/^must match pattern/)
    expect(says({ patternProperties: { '^(a+)+$': false } }, { [`${'a'.repeat(50)}!`]: 1 })).toBe(
      'ok',
    )
  })

  test('cannot fill the answer', () => {
    const long = 'x'.repeat(100_000)
    expect(says({ additionalProperties: false }, { [long]: 1 }).length).toBeLessThan(200)
    expect(says({ enum: [long] }, 1).length).toBeLessThan(200)
    expect(says({ const: long }, 1).length).toBeLessThan(200)
    const required = range(1000, index => `p${index}`)
    expect(says({ required }, {})).toMatch(/; and 992 more$/)
  })
})
