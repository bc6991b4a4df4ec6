import { describe, expect, test } from 'vitest'
import { headerAnnotations } from './annotations.ts'

const on = (value: unknown, more: object = { type: 'string' }) => ({
  ...more,
  'x-mcp-header': value,
})
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })

describe('annotations of headers', () => {
  test('name the headers and the paths of their arguments', () => {
    const found = headerAnnotations(
      object({
        region: on('Region'),
        depth: on('depth', { type: 'integer', enum: [1, 2] }),
        flags: object({ verbose: on("!#$%&'*+-.^_`|~0Az", { type: 'boolean' }) }),
        maybe: on('Maybe', { type: ['null', 'string'] }),
        ['__proto__']: on('Proto'),
        query: { type: 'string' },
      }),
    )
    expect(found).toEqual({
      ok: true,
      headers: new Map([
        ['Mcp-Param-Region', ['region']],
        ['Mcp-Param-depth', ['depth']],
        ["Mcp-Param-!#$%&'*+-.^_`|~0Az", ['flags', 'verbose']],
        ['Mcp-Param-Maybe', ['maybe']],
        ['Mcp-Param-Proto', ['__proto__']],
      ]),
    })
  })

  test.each([
    ['no schema', undefined],
    ['no annotation', object({ a: { type: 'string' } })],
    ['a property of that name', object({ 'x-mcp-header': { type: 'number' } })],
    [
      'data that look like one',
      object({ a: { enum: [on('x')], default: on('y'), const: on('z') } }),
    ],
    ['an unknown keyword', object({ a: { 'x-other': on('x') } })],
    ['a schema that is wrong elsewhere', { type: 'object', properties: [], items: 5, allOf: {} }],
  ])('%s means no header', (_, schema) => {
    expect(headerAnnotations(schema)).toEqual({ ok: true, headers: new Map() })
  })

  test.each([
    ['an empty name', object({ a: on('') }), /#\/properties\/a is empty/],
    ['a space', object({ a: on('My Region') }), /not a valid header name/],
    ['a colon', object({ a: on('Region:Primary') }), /not a valid header name/],
    ['a letter outside of ASCII', object({ a: on('Région') }), /not a valid header name/],
    ['a control character', object({ a: on('Region\t1') }), /not a valid header name/],
    ['a line break', object({ a: on('Region\r\nX: 1') }), /not a valid header name/],
    ['a trailing line break', object({ a: on('Region\n') }), /not a valid header name/],
    ['a number as the name', object({ a: on(5) }), /not a string/],
    ['null as the name', object({ a: on(null) }), /not a string/],
    [
      'the same name twice',
      object({ a: on('Region'), b: on('Region') }),
      /same header as "Region"/,
    ],
    ['names that differ in case', object({ a: on('MyField'), b: on('myfield') }), /same header/],
    ['the same name deeper', object({ a: on('X'), b: object({ c: on('x') }) }), /same header/],
    ['an object', object({ a: on('X', { type: 'object' }) }), /must be on a string/],
    ['an array', object({ a: on('X', { type: 'array', items: {} }) }), /must be on a string/],
    ['null', object({ a: on('X', { type: 'null' }) }), /must be on a string/],
    ['a number', object({ a: on('X', { type: 'number' }) }), /must be on a string/],
    ['no type', object({ a: on('X', {}) }), /must be on a string/],
    ['two types', object({ a: on('X', { type: ['string', 'integer'] }) }), /must be on a string/],
    [
      'an integer too large',
      object({ a: on('X', { type: 'integer', const: 2 ** 53 }) }),
      /safe range/,
    ],
    [
      'integers too small',
      object({ a: on('X', { type: 'integer', enum: [-(2 ** 53)] }) }),
      /safe range/,
    ],
    [
      'the root',
      on('X', { type: 'object', properties: {} }),
      /x-mcp-header at # must be on a property/,
    ],
    ['items', object({ a: { type: 'array', items: on('X') } }), /through "properties" alone/],
    ['a property of items', object({ a: { items: object({ b: on('X') }) } }), /alone/],
    ['prefixItems', object({ a: { prefixItems: [on('X')] } }), /alone/],
    ['additionalProperties', object({}, { additionalProperties: on('X') }), /alone/],
    ['patternProperties', object({}, { patternProperties: { a: on('X') } }), /alone/],
    ['oneOf', object({ a: { oneOf: [on('X')] } }), /alone/],
    ['anyOf', { anyOf: [object({ a: on('X') })] }, /alone/],
    ['allOf', { allOf: [object({ a: on('X') })] }, /alone/],
    ['not', object({ a: { not: on('X') } }), /alone/],
    ['else', { if: false, else: object({ a: on('X') }) }, /alone/],
    ['$defs', object({ a: { $ref: '#/$defs/b' } }, { $defs: { b: on('X') } }), /alone/],
    ['definitions', object({}, { definitions: { b: object({ c: on('X') }) } }), /alone/],
    ['dependentSchemas', object({}, { dependentSchemas: { a: object({ b: on('X') }) } }), /alone/],
  ])('%s is refused', (_, schema, why) => {
    expect(headerAnnotations(schema)).toEqual({ ok: false, why: expect.stringMatching(why) })
  })

  test('a schema that is too deep to be looked through is refused', () => {
    let schema: object = on('X')
    for (let depth = 0; depth < 100; depth++) schema = object({ a: schema })
    expect(headerAnnotations(schema)).toEqual({
      ok: false,
      why: 'the schema is nested more than 64 levels deep',
    })
  })
})
