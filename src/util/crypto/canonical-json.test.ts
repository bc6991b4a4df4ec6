import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { growth, proportional } from '../../../test/fuzz/cost.ts'
import { canonicalJson } from './canonical-json.ts'

describe('canonical JSON', () => {
  test.each([
    ['members in another order', { b: 1, a: { d: 2, c: 3 } }, '{"a":{"c":3,"d":2},"b":1}'],
    ['lists as they are', [3, 1, [2]], '[3,1,[2]]'],
    ['nothing in it', [{}, []], '[{},[]]'],
    ['numbers', [1e21, 1e-7, -0, 100, 0.1], '[1e+21,1e-7,0,100,0.1]'],
    ['words', [true, false, null], '[true,false,null]'],
    ['members without a value', { a: undefined, b: null }, '{"b":null}'],
    ['places without a value', [undefined], '[null]'],
    ['characters that need escaping', '"\\\n\u0001\u2028ö', '"\\"\\\\\\n\\u0001\u2028ö"'],
    ['half a surrogate pair', '\ud800', '"\\ud800"'],
    // By code units the pair comes first, by code points it would come last.
    ['the order of code units', { '\ufb33': 1, '\u{1f600}': 2 }, '{"\u{1f600}":2,"\ufb33":1}'],
    ['upper case before lower', { a: 1, B: 2 }, '{"B":2,"a":1}'],
    ['numbers as names', { 10: 1, 9: 2, a: 3 }, '{"10":1,"9":2,"a":3}'],
    ['names of prototypes', JSON.parse('{"b":1,"__proto__":2}'), '{"__proto__":2,"b":1}'],
  ])('%s', (_, value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })

  test('means the same, and does not depend on the order of members', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const text = canonicalJson(value)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalJson(reversed(value))).toBe(text)
      }),
    )
  })

  test.each([
    ['a date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ['no number', Number.NaN, 'null'],
    ['an endless number', Number.POSITIVE_INFINITY, 'null'],
    ['an object of a class', new URLSearchParams('a=1'), '{}'],
    ['a member named toJSON that is no function', { toJSON: 1 }, '{"toJSON":1}'],
    ['members that are functions', { a: () => 1, b: Symbol('x') }, '{}'],
    ['places that are functions', [() => 1, Symbol('x')], '[null,null]'],
  ])('%s is written as JSON.stringify writes it', (_, value, text) => {
    expect(canonicalJson(value)).toBe(text)
    expect(JSON.stringify(value)).toBe(text)
  })

  test.each([
    ['undefined', undefined],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['a bigint', 1n],
    ['a bigint somewhere inside', [{ a: 1n }]],
  ])('%s is refused', (_, value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError)
  })

  test('nesting is bounded', () => {
    expect(canonicalJson(nested(128))).toBe('['.repeat(128) + ']'.repeat(128))
    expect(() => canonicalJson(nested(129))).toThrow('nested deeper than 128 levels')
    expect(() => canonicalJson(nested(100_000))).toThrow(TypeError)
  })

  test('time is in proportion to the size', () => {
    const values = new Map<number, unknown>()
    const ratio = growth(1_000, size => {
      const value =
        values.get(size) ?? Array.from({ length: size }, (_, i) => ({ b: i, a: `${i}` }))
      values.set(size, value)
      canonicalJson(value)
    })
    expect(ratio).toBeLessThan(proportional)
  })
})

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, member]) => [name, reversed(member)] as const)
  return Object.fromEntries(entries.reverse())
}

function nested(levels: number): unknown {
  let value: unknown[] = []
  for (let level = 1; level < levels; level++) value = [value]
  return value
}
