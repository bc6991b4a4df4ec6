import type { JsonSchema } from '../../src/mcp/types/base.ts'

/** A schema and a value for it that would take far too long, or too much memory, without a budget. */
export interface Attack {
  readonly schema: JsonSchema
  readonly value: unknown
}

const times = <T>(length: number, item: (index: number) => T) =>
  Array.from({ length }, (_, index) => item(index))
const members = <T>(length: number, item: (index: number) => T) =>
  Object.fromEntries(times(length, index => [`k${index}`, item(index)]))

/** Definitions that each apply the next one twice, so that the last one is applied 2 ** count times. */
const doubling = (count: number, last: object) => ({
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries([
    ...times(count, level => {
      const next = { $ref: `#/$defs/d${level + 1}` }
      return [`d${level}`, { allOf: [next, next] }]
    }),
    [`d${count}`, last],
  ]),
})

/** Definitions that each refer to the next one. */
const chain = (count: number, last: object, more: object = {}) => ({
  ...more,
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries([
    ...times(count, level => [`d${level}`, { $ref: `#/$defs/d${level + 1}` }]),
    [`d${count}`, last],
  ]),
})

const digits = `${'1'.repeat(998)}x1`
const numbers = times(20_000, index => index)
const long = 'x'.repeat(4_000_000)

/** Values that use up the budget: none of them may be accepted, nor reported as merely wrong. */
export const exhausting: Readonly<Record<string, Attack>> = {
  'many strings for a quadratic pattern': {
    schema: { items: { pattern: '\\d+$' } },
    value: times(12_000, () => digits),
  },
  'many names for a quadratic pattern': {
    schema: { propertyNames: { pattern: '\\d+$' } },
    value: Object.fromEntries(times(4000, index => [`${index}x${digits}`, 1])),
  },
  'a pattern inside not': {
    schema: { items: { not: { pattern: 'a+b' } } },
    value: times(8000, () => 'a'.repeat(1000)),
  },
  'a pattern inside if': {
    schema: { items: { if: { pattern: 'a+b' }, else: { minLength: 1 } } },
    value: times(8000, () => 'a'.repeat(1000)),
  },
  'a pattern inside anyOf': {
    schema: { items: { anyOf: [{ pattern: 'a+b' }, true] } },
    value: times(8000, () => 'a'.repeat(1000)),
  },
  'a backreference': {
    schema: { items: { not: { pattern: '^(a*)a*\\1b$' } } },
    value: times(50, () => 'a'.repeat(1000)),
  },
  'a look-behind': {
    schema: { items: { not: { pattern: '(?<=a+)b' } } },
    value: times(500, () => 'a'.repeat(5000)),
  },
  'an exact repetition': {
    schema: { items: { not: { pattern: '(?:a{60}){60}b' } } },
    value: times(50, () => 'a'.repeat(20_000)),
  },
  'a look-ahead at each position': {
    schema: { pattern: '(?=[^b]*b)c' },
    value: 'a'.repeat(200_000),
  },
  'a Unicode class on non-Latin text': {
    schema: { items: { pattern: '\\p{Lu}+$' } },
    value: times(1000, () => 'Ж'.repeat(2000)),
  },
  'doubling references onto uniqueItems': {
    schema: doubling(18, { uniqueItems: true }),
    value: numbers,
  },
  'doubling references onto a large enum of objects': {
    schema: doubling(18, { not: { enum: times(300, index => ({ index })) } }),
    value: members(200, index => index),
  },
  'doubling references onto a constant': {
    schema: doubling(18, { const: numbers }),
    value: numbers,
  },
  'doubling references onto maxLength': {
    schema: doubling(18, { maxLength: 4_000_000 }),
    value: long,
  },
  'doubling references onto a format': {
    schema: doubling(18, { format: 'uri' }),
    value: `urn:${long}`,
  },
  'doubling references onto minProperties': {
    schema: doubling(18, { minProperties: 1 }),
    value: members(20_000, index => index),
  },
  'doubling references onto contains': {
    schema: doubling(18, { not: { contains: { const: -1 } } }),
    value: numbers,
  },
  'doubling references onto items': {
    schema: doubling(18, { items: { type: 'number', minimum: 0 } }),
    value: numbers,
  },
  'doubling references onto dependentSchemas': {
    schema: doubling(18, {
      dependentSchemas: { k0: { additionalProperties: { type: 'number' } } },
    }),
    value: members(10_000, index => index),
  },
  'many required names': {
    schema: doubling(18, { required: times(4000, index => `k${index}`) }),
    value: members(5000, index => index),
  },
  'a chain of references with evaluated names': {
    schema: chain(300, { patternProperties: { '^k': true } }, { unevaluatedProperties: false }),
    value: members(50_000, index => index),
  },
  'references for a very long name': {
    schema: {
      allOf: times(500, () => ({ additionalProperties: { $ref: '#/$defs/x' } })),
      $defs: { x: { type: 'number' } },
    },
    value: { [long]: 1 },
  },
  'many patternProperties and names': {
    schema: { patternProperties: Object.fromEntries(times(300, index => [`^x${index}`, true])) },
    value: members(30_000, index => index),
  },
  'alternatives at every level': {
    schema: {
      anyOf: times(4, () => ({ properties: { a: { $ref: '#' }, b: false } })),
    },
    value: times(24, () => 0).reduce<object>(inner => ({ a: inner }), { b: 1 }),
  },
  'alternatives that fail for each item': {
    schema: { contains: { anyOf: times(50, index => ({ const: -1 - index })) } },
    value: times(200_000, index => index),
  },
  'a reference that fails for each item': {
    schema: { contains: { $ref: '#/$defs/x' }, $defs: { x: { anyOf: [false, { type: 'null' }] } } },
    value: times(400_000, index => index),
  },
  'a reference to itself': { schema: { allOf: [{ $ref: '#' }, { $ref: '#' }] }, value: 1 },
  'deep values that are compared': {
    schema: doubling(18, { not: { contains: { enum: [{ a: [[[1]]] }] } } }),
    value: times(2000, () => times(20, index => [index])),
  },
}

/** Schemas that would take far too much to compile. */
export const oversized: Readonly<Record<string, JsonSchema>> = {
  'copies of a large look-ahead': { pattern: '(?:(?=a{0,9000})b){6000}' },
  'nested counted repetitions': { pattern: '^(?:(?:(?:a?){99}){99}){99}$' },
  'an empty alternative repeated': { pattern: '^(?:|a){100000000}b' },
  'many patterns': {
    patternProperties: Object.fromEntries(
      times(400, index => [`^(?:${`[a-z${index}]x?`.repeat(60)})*$`, true]),
    ),
  },
  'many large automata': {
    allOf: times(50, index => ({ pattern: `^(?:a?b${index}){900}$` })),
  },
  'many Unicode classes': { allOf: times(100, index => ({ pattern: `[^\\p{L}${index}]+` })) },
  'a long text': { description: 'x'.repeat(2_000_000) },
  'a huge enum': { enum: times(300_000, index => `value ${index}`) },
  'many schemas': { allOf: times(3000, () => ({ type: 'string' })) },
  'many keywords': {
    allOf: times(1900, index => ({ required: times(19, name => `${index}${name}`) })),
  },
  'long names on the way to many schemas': {
    properties: { ['x'.repeat(500_000)]: { allOf: times(1900, () => ({ type: 'string' })) } },
  },
  'deep nesting': times(100, () => 0).reduce<JsonSchema>(inner => ({ not: inner }), {}),
}

/**
 * Kinds of schemas by their size, each of which makes the engine do something else. The largest of each
 * kind that is accepted from a peer must compile in bounded time.
 */
export const kinds: Readonly<Record<string, (size: number) => JsonSchema>> = {
  'names of properties': n => ({ properties: members(n, () => ({ type: 'string' })) }),
  'keywords for strings': n => ({
    properties: members(n, () => ({ minLength: 1, maxLength: 9, pattern: '^a', format: 'date' })),
  }),
  'keywords for numbers': n => ({
    properties: members(n, () => ({ minimum: 1, exclusiveMaximum: 9, multipleOf: 0.5 })),
  }),
  'lists of types': n => ({
    properties: members(n, () => ({ type: ['string', 'number', 'null', 'object', 'array'] })),
  }),
  'keywords for lists': n => ({
    properties: members(n, index => ({
      items: { type: 'string' },
      contains: { const: index },
      maxContains: 3,
      uniqueItems: true,
    })),
  }),
  'small enums': n => ({
    properties: members(n, index => ({ enum: times(16, value => `${index}-${value}`) })),
  }),
  'a large enum': n => ({ enum: times(n, value => ({ a: [value] })) }),
  'a large constant': n => ({ const: times(n, value => [value]) }),
  'constants that are objects': n => ({
    properties: members(n, index => ({ const: { index } })),
  }),
  'alternatives of which one matches': n => ({
    oneOf: times(n, index => ({ properties: { a: { const: index } }, required: ['a'] })),
  }),
  alternatives: n => ({ anyOf: times(n, () => ({ type: 'string' })) }),
  conditions: n => ({
    allOf: times(n, index => ({
      if: { properties: { a: { const: index } } },
      // biome-ignore lint/suspicious/noThenProperty: the keyword has this name
      then: { required: ['b'] },
      else: { minProperties: 1 },
    })),
  }),
  'a chain of references': n => chain(n, {}),
  'a graph of references': n => ({
    $ref: '#/$defs/k0',
    $defs: members(n, index => ({
      properties: {
        a: { $ref: `#/$defs/k${(index * 7 + 1) % n}` },
        b: { $ref: `#/$defs/k${(index * 3 + 2) % n}` },
      },
    })),
  }),
  'dynamic references': n => ({
    $dynamicAnchor: 'x',
    properties: members(n, () => ({ $dynamicRef: '#x' })),
  }),
  'schemas with addresses': n => ({
    $defs: members(n, index => ({ $id: `https://x.example/${index}`, type: 'string' })),
    $ref: 'https://x.example/0',
  }),
  'deep nesting': n => nested(n, inner => ({ anyOf: inner })),
  'deeply nested properties': n =>
    nested(n, inner => ({
      properties: Object.fromEntries(inner.map((one, index) => [index, one])),
    })),
  'dependent schemas': n => ({ dependentSchemas: members(n, () => ({ required: ['z'] })) }),
  'dependent names': n => ({ dependentRequired: members(n, index => [`z${index}`]) }),
  'patterns for names': n => ({
    patternProperties: members(n, () => ({ type: 'string' })),
  }),
  'names of names': n => ({
    properties: members(n, () => ({ propertyNames: { maxLength: 5 } })),
  }),
  patterns: n => ({ properties: members(n, index => ({ pattern: `^a${index}[b-d]+$` })) }),
  'evaluated properties': n => ({
    allOf: times(n, index => ({ properties: { [`k${index}`]: { type: 'string' } } })),
    unevaluatedProperties: false,
  }),
  'evaluated items': n => ({
    anyOf: times(n, () => ({ prefixItems: [{ type: 'string' }] })),
    unevaluatedItems: false,
  }),
  annotations: n => ({ default: members(n, index => ({ a: { b: index } })) }),
  'unknown keywords': n => members(n, () => ({ type: 'string' })),
  'dependencies of draft-07': n => ({
    $schema: 'http://json-schema.org/draft-07/schema#',
    dependencies: members(n, index => (index % 2 === 0 ? ['a'] : { type: 'object' })),
  }),
}

/** Nests schemas in 60 levels, each with as many neighbours as make up the number. */
function nested(count: number, join: (inner: object[]) => JsonSchema): JsonSchema {
  const neighbours = times(Math.floor(count / 60), () => ({ type: 'string' }))
  return times(60, () => 0).reduce<JsonSchema>(inner => join([inner, ...neighbours]), {})
}
