import { expect, test } from 'vitest'
import { defaultsOf } from './defaults.ts'

const schema = {
  type: 'object',
  properties: {
    n: { type: 'number', default: 5 },
    nothing: { default: null },
    list: { type: 'array', items: { properties: { a: { default: 'x' } } } },
    place: { properties: { zone: { default: 'utc' } } },
    options: { default: { deep: [1] }, properties: { more: { default: true } } },
    __proto__: {},
  },
  anyOf: [{ properties: { other: { default: 1 } } }],
}

test.each([
  [{}, { n: 5, nothing: null, options: { deep: [1] } }],
  [
    { n: 0, nothing: 1, options: {} },
    { n: 0, nothing: 1, options: { more: true } },
  ],
  [{ n: undefined }, { n: 5, nothing: null, options: { deep: [1] } }],
  [
    { n: 1, nothing: 1, options: { more: 1 }, list: [{}, { a: 'y' }, 7], place: {} },
    {
      n: 1,
      nothing: 1,
      options: { more: 1 },
      list: [{ a: 'x' }, { a: 'y' }, 7],
      place: { zone: 'utc' },
    },
  ],
  ['no object', 'no object'],
])('%j becomes %j', (value, filled) => {
  const before = JSON.stringify(value)
  expect(defaultsOf(schema)?.(value)).toEqual(filled)
  expect(JSON.stringify(value)).toBe(before)
})

test('what needs no default is the same object', () => {
  const whole = { n: 1, nothing: 1, options: { more: 1 }, list: [{ a: 1 }], place: { zone: 1 } }
  expect(defaultsOf(schema)?.(whole)).toBe(whole)
})

test('a schema without defaults has no function', () => {
  expect(defaultsOf({ type: 'object', properties: { a: { type: 'string' } } })).toBeUndefined()
  expect([defaultsOf(true), defaultsOf(undefined)]).toEqual([undefined, undefined])
})
