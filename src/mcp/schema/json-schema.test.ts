import { describe, expect, test } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import type { JsonSchema } from '../types/base.ts'
import { checkSchema, dialectOf } from './json-schema.ts'

const object = (properties: object, more: object = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...more,
})

function nested(depth: number): JsonSchema {
  let schema: JsonSchema = { type: 'string' }
  for (let count = 1; count < depth; count++) schema = { items: schema }
  return schema
}

describe('the quick check of a schema', () => {
  test.each<readonly [string, JsonSchema]>([
    ['nothing', {}],
    ['booleans as schemas', object({ a: true, b: false }, { additionalProperties: false })],
    [
      'every place for a schema',
      {
        prefixItems: [{}],
        items: {},
        contains: {},
        patternProperties: { '^a': {} },
        dependentSchemas: { a: {} },
        dependencies: { a: ['b'], b: {} },
        $defs: { a: {} },
        not: {},
        if: {},
        else: {},
      },
    ],
    ['lists of items, as draft-07 has them', { items: [{}, {}] }],
    ['types', { type: ['string', 'null'] }],
    [
      'data that look like schemas',
      { enum: [{ type: 5 }], default: { $ref: 'x' }, const: { items: 5 } },
    ],
    [
      'a property named like a keyword',
      object({ type: { type: 'string' }, $ref: { type: 'string' } }),
    ],
    ['a reference to the whole', object({ a: { $ref: '#' } })],
    ['a reference to a part', object({ a: { $ref: '#/properties/b~1c%20~0d' }, 'b/c ~d': {} })],
    ['a reference to a boolean', object({ a: { $ref: '#/$defs/a' } }, { $defs: { a: true } })],
    ['an anchor', object({ a: { $ref: '#there' }, b: { $anchor: 'there' } })],
    ['a dynamic anchor', object({ a: { $dynamicRef: '#there' } }, { $dynamicAnchor: 'there' })],
    ['an anchor of draft-07', object({ a: { $ref: '#there' }, b: { $id: '#there' } })],
    [
      'a schema with an address',
      { $id: 'https://x.example/a.json', ...object({ a: { $ref: 'a.json#/properties/a' } }) },
    ],
    [
      'a part with an address',
      object(
        { a: { $ref: 'https://x.example/b' }, c: { $ref: 'https://x.example/b#/$defs/d' } },
        {
          $defs: {
            b: { $id: 'https://x.example/b', $defs: { d: {} }, items: { $ref: '#/$defs/d' } },
          },
        },
      ),
    ],
    [
      'the base of a neighbour',
      { items: { $id: 'https://x.example/b' }, properties: { a: { $ref: '#/items' } } },
    ],
    ['a name', { $id: 'urn:example:a', ...object({ a: { $ref: '#/properties/b' }, b: {} }) }],
    ['all the depth there may be', nested(64)],
  ])('accepts %s', (_, schema) => {
    expect(checkSchema(schema)).toBeUndefined()
  })

  test.each<readonly [string, JsonSchema, string]>([
    [
      'a type that does not exist',
      object({ a: { type: 'text' } }),
      '#/properties/a/type is not a JSON type',
    ],
    ['no type', { type: [] }, '#/type is not a JSON type'],
    ['a type of another type', { type: 5 }, '#/type is not a JSON type'],
    [
      'required as a flag',
      object({ a: { required: true } }),
      '#/properties/a/required is not an array of strings',
    ],
    ['an enum that is none', { enum: 'a' }, '#/enum is not an array'],
    ['properties as a list', object([]), '#/properties is not a schema'],
    ['a property that is none', object({ a: 'string' }), '#/properties/a is not a schema'],
    ['null for a schema', { items: null }, '#/items is not a schema'],
    ['one alternative outside of a list', { anyOf: {} }, '#/anyOf is not a schema'],
    [
      'a pattern that is none',
      object({ a: { pattern: '(' } }),
      '#/properties/a/pattern cannot be used: Invalid',
    ],
    [
      'a pattern without end',
      { pattern: '^(a+)+\\1$' },
      '#/pattern cannot be used: has nested repetitions',
    ],
    [
      'a pattern for names',
      { patternProperties: { '[': {} } },
      '#/patternProperties cannot be used',
    ],
    [
      'a reference elsewhere',
      { $ref: 'https://x.example/a.json' },
      '#/$ref refers to another document',
    ],
    ['a file', { $ref: 'file:///etc/passwd' }, '#/$ref refers to another document'],
    ['a neighbour', { $ref: 'other.json#/a' }, '#/$ref refers to another document'],
    ['a reference by number', { $ref: 5 }, '#/$ref refers to another document'],
    [
      'a dynamic reference elsewhere',
      { $dynamicRef: 'https://x.example/#a' },
      '#/$dynamicRef refers to another document',
    ],
    [
      'a reference to the dialect',
      { $ref: 'https://json-schema.org/draft/2020-12/schema' },
      'refers to another document',
    ],
    ['a reference to nothing', { $ref: '#/$defs/a' }, '#/$ref does not resolve: #/$defs/a'],
    ['a reference to what all objects have', { $ref: '#/constructor' }, 'does not resolve'],
    ['a reference to a text', { $ref: '#/title', title: 'x' }, 'does not resolve'],
    [
      'a reference to a value that is not a schema',
      { $ref: '#/x-mine', 'x-mine': { pattern: '(' } },
      'does not resolve',
    ],
    ['a reference to data', { $ref: '#/default', default: { type: 'object' } }, 'does not resolve'],
    ['an anchor that is not there', { $ref: '#there' }, 'does not resolve'],
    ['a pointer that is none', { $ref: '#/%' }, 'does not resolve'],
    [
      'a part of another base',
      { items: { $id: 'https://x.example/b', items: { $ref: '#/$defs/a' } }, $defs: { a: {} } },
      'does not resolve',
    ],
    [
      'a second dialect',
      { items: { $schema: 'http://json-schema.org/draft-07/schema#' } },
      'must not change the dialect',
    ],
    ['too many levels', nested(65), 'more than 64 levels deep'],
    [
      'too many schemas',
      { allOf: Array.from({ length: 10_000 }, () => ({})) },
      'more than 10000 schemas',
    ],
  ])('refuses %s', (_, schema, message) => {
    proves('B18', 'B18b', 'B18d')
    expect(() => checkSchema(schema)).toThrow(message)
  })

  test('can leave patterns to the library that checks', () => {
    expect(checkSchema({ pattern: '^(a+)+\\1$' }, { patterns: false })).toBeUndefined()
  })

  test.each([
    [undefined, '2020-12'],
    ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
    ['https://json-schema.org/draft/2020-12/schema#', '2020-12'],
    ['http://json-schema.org/draft-07/schema#', 'draft-07'],
    ['http://json-schema.org/draft-07/schema', 'draft-07'],
    ['https://json-schema.org/draft-07/schema#', 'draft-07'],
  ])('knows the dialect %s', ($schema, dialect) => {
    expect(dialectOf({ $schema })).toBe(dialect)
  })

  test.each([
    'http://json-schema.org/draft-04/schema#',
    'https://json-schema.org/draft/2019-09/schema',
    '',
    'x',
  ])('does not know the dialect %j', $schema => {
    proves('B17c')
    expect(() => dialectOf({ $schema })).toThrow('is not supported')
  })
})
