import { describe, expect, it, test } from 'vitest'
import { initialValue, resolved, type Schema, shapeOf, skeleton, variantOf } from './schema.ts'

const shape = (schema: Schema) => shapeOf(schema, schema)

test.each([
  [{ type: 'string' }, 'text'],
  [{ type: 'integer' }, 'integer'],
  [{ type: 'number' }, 'number'],
  [{ type: 'boolean' }, 'boolean'],
  [{ type: 'null' }, 'null'],
  [{ const: 5 }, 'const'],
  [{ enum: ['a', 'b'] }, 'choice'],
  [{ type: 'object', properties: { a: {} } }, 'object'],
  [{ properties: { a: {} } }, 'object'],
  [{ type: 'object' }, 'object'],
  [{ type: 'array', items: { type: 'string' } }, 'list'],
  [{ type: 'array', items: { enum: ['a'] } }, 'choices'],
  [{ type: 'array', prefixItems: [{}] }, 'json'],
  [{ type: ['string', 'null'] }, 'union'],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'union'],
  [{ oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] }, 'choice'],
  [{}, 'json'],
  [{ $ref: 'https://elsewhere.test/schema' }, 'json'],
  [{ not: { type: 'string' } }, 'json'],
])('%j is shown as %s', (schema, kind) => {
  expect(shape(schema).kind).toBe(kind)
})

describe('references', () => {
  it('are followed, with what stands beside them', () => {
    const root = { $defs: { 'a/b': { type: 'string', title: 'one' } } }
    const schema = { $ref: '#/$defs/a~1b', title: 'other' }
    expect(resolved(schema, root)).toEqual({ type: 'string', title: 'other' })
  })

  it('to themselves end', () => {
    const root = { $ref: '#' }
    expect(resolved(root, root)).toEqual({})
    const tree: Schema = {
      type: 'object',
      required: ['child'],
      properties: { child: { $ref: '#' }, name: { type: 'string' } },
    }
    expect(JSON.stringify(initialValue(tree, tree)).length).toBeLessThan(200)
    expect(JSON.stringify(skeleton(tree, tree)).length).toBeLessThan(500)
  })

  it('to something missing are edited as JSON', () => {
    expect(shape({ $ref: '#/$defs/none' }).kind).toBe('json')
  })
})

test('allOf is merged', () => {
  const schema = {
    allOf: [
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
      { properties: { b: { type: 'number' } }, required: ['b'] },
    ],
  }
  expect(shape(schema)).toMatchObject({
    kind: 'object',
    members: [
      { name: 'a', isRequired: true },
      { name: 'b', isRequired: true },
    ],
  })
})

describe('unions', () => {
  const root = {
    $defs: { Cat: { type: 'object', properties: { lives: { type: 'number' } } } },
    oneOf: [
      { title: 'By mail', type: 'object', properties: { kind: { const: 'email' } } },
      { type: 'object', properties: { kind: { const: 'sms' } }, required: ['kind'] },
      { $ref: '#/$defs/Cat' },
      { type: 'string' },
      { type: 'object', properties: { x: {} } },
      { type: 'object', properties: { y: {} } },
    ],
  }
  const found = shapeOf(root, root)
  const variants = found.kind === 'union' ? found.variants : []

  it('are named by title, constant, definition or type, each differently', () => {
    const names = variants.map(({ name }) => name)
    expect(names).toEqual(['By mail', 'sms', 'Cat', 'string', 'object 5', 'object 6'])
  })

  it.each([
    [{ kind: 'email' }, 0],
    [{ kind: 'sms' }, 1],
    [{ lives: 9 }, 0],
    ['text', 3],
    [5, -1],
  ])('%j belongs to variant %i', (value, at) => {
    expect(variantOf(value, variants, root)).toBe(at)
  })
})

test('a form starts with constants and required objects, and nothing else', () => {
  const schema: Schema = {
    type: 'object',
    required: ['kind', 'where', 'text', 'list', 'sure', 'by'],
    properties: {
      kind: { const: 'x' },
      where: { type: 'object', required: ['unit'], properties: { unit: { const: 'm' } } },
      text: { type: 'string', default: 'not sent unless it is changed' },
      list: { type: 'array', items: {} },
      sure: { type: 'boolean' },
      by: { oneOf: [{ type: 'object', properties: { k: { const: 1 } }, required: ['k'] }] },
      optional: { type: 'object', properties: { a: { const: 1 } }, required: ['a'] },
    },
  }
  expect(initialValue(schema, schema)).toEqual({
    kind: 'x',
    where: { unit: 'm' },
    list: [],
    sure: false,
    by: { k: 1 },
  })
})

test('a skeleton has the whole structure', () => {
  const schema: Schema = {
    type: 'object',
    properties: {
      path: { type: 'string' },
      limit: { type: 'integer', minimum: 1 },
      depth: { type: 'integer', default: 3 },
      tags: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
      mode: { enum: ['fast', 'exact'] },
      any: {},
    },
  }
  expect(skeleton(schema, schema)).toEqual({
    path: '',
    limit: 1,
    depth: 3,
    tags: [{ name: '' }],
    mode: 'fast',
    any: null,
  })
})

test('values of other types than a schema says are not lost by naming their variant', () => {
  expect(variantOf(undefined, [], {})).toBe(-1)
  expect(initialValue(true, {})).toBeUndefined()
  expect(shapeOf(false, {}).kind).toBe('json')
})
