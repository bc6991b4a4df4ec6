import { describe, expect, test } from 'vitest'
import { adapt } from './adapt.ts'
import { match, matchInAnyOrder, type Names } from './match.ts'
import { printShape } from './shape.ts'
import { readJson, readShape } from './shape-reader.ts'

const none: Names = new Map()

function compare(expected: string, actual: string, names: Names = none) {
  return match(readShape(expected), readJson(actual), names)
}

describe('a value fits', () => {
  const cases = [
    ['itself', '{"a":[1,"x",null]}', '{"a":[1,"x",null]}'],
    ['members in another order', '{"a":1,"b":2}', '{"b":2,"a":1}'],
    ['anything', '{"a":…}', '{"a":{"b":[]}}'],
    ['anything, null included', '…', 'null'],
    ['further members', '{"a":1,…}', '{"b":2,"a":1}'],
    ['no further members', '{"a":1,…}', '{"a":1}'],
    ['further elements', '[1,…]', '[1,2,3]'],
    ['a string with gaps', '"a…c…e"', '"abcde"'],
    ['gaps of nothing', '"a…c…e"', '"ace"'],
    ['parts that come more than once', '"…ab…"', '"aabab"'],
    ['any string', '"…"', '""'],
    ['an integer beyond the safe ones', '9007199254740993', '9007199254740993'],
    ['one and the same number', '1', '1.0'],
    ['a name met twice', '["$a","$a"]', '[{"x":1},{"x":1}]'],
  ] as const

  test.each(cases)('%s', (_, expected, actual) => {
    expect(compare(expected, actual)).toHaveProperty('names')
  })
})

describe('a value does not fit', () => {
  const cases = [
    ['another scalar', '1', '2', 'is 2, expected 1'],
    ['another type', '1', '"1"', 'is "1", expected 1'],
    ['the next integer', '9007199254740993', '9007199254740992', 'is 9007199254740992'],
    ['a missing member', '{"a":{"b":1,…}}', '{"a":{}}', 'a.b is missing, expected 1'],
    ['a member too many', '{"a":1}', '{"a":1,"b":2}', 'b is 2, expected nothing'],
    ['a missing element', '[1,2]', '[1]', '[1] is missing, expected 2'],
    ['an element too many', '{"a":[1]}', '{"a":[1,2]}', 'a[1] is 2, expected nothing'],
    ['an object for an array', '[]', '{}', 'is {}, expected []'],
    ['an array for an object', '{…}', '[]', 'is [], expected {…}'],
    ['gaps with another end', '"a…c"', '"abcd"', 'is "abcd", expected "a…c"'],
    ['gaps whose parts overlap', '"ab…ba"', '"aba"', 'is "aba", expected "ab…ba"'],
    ['gaps in a number', '"…"', '1', 'is 1, expected "…"'],
    ['a name that means something else', '["$a","$a"]', '[1,2]', '[1] is 2, expected 1'],
    ['a member with an odd name', '{"a/b":1}', '{"a/b":2}', '["a/b"] is 2, expected 1'],
  ] as const

  test.each(cases)('%s', (_, expected, actual, words) => {
    const found = compare(expected, actual)
    const { where, why } = 'mismatch' in found ? found.mismatch : { where: '', why: 'fits' }
    expect(`${where} ${why}`.trim()).toContain(words)
  })
})

test('a name is bound to its first value', () => {
  const first = compare('{"cursor":"$next",…}', '{"cursor":"abc","x":1}')
  const names = 'names' in first ? first.names : none
  expect(compare('"$next"', '"abc"', names)).toHaveProperty('names')
  expect(compare('"$next"', '"abd"', names)).toHaveProperty('mismatch')
})

describe('in any order', () => {
  const places = (expected: readonly string[], actual: readonly string[]) =>
    matchInAnyOrder(expected.map(readShape), actual.map(readJson), none)?.places

  test('each shape finds its value', () => {
    expect(places(['{"id":2,…}', '{"id":1,…}'], ['{"id":1,"a":1}', '{"id":2}'])).toEqual([1, 0])
  })

  test('a shape that fits several leaves the others what they need', () => {
    expect(places(['…', '1'], ['1', '2'])).toEqual([1, 0])
  })

  test('names have the same value in all of them', () => {
    expect(places(['["$a",1]', '["$a",2]'], ['["x",2]', '["y",1]'])).toBeUndefined()
    expect(places(['["$a",1]', '["$a",2]'], ['["x",2]', '["x",1]'])).toEqual([1, 0])
  })

  test('a value without a shape leaves nothing to find', () => {
    expect(places(['1', '1'], ['1', '2'])).toBeUndefined()
  })
})

describe('a shape adapted to a value', () => {
  const cases = [
    ['stays if it fits', '{"a":…,"b":"$x"}', '{"a":1,"b":2}', '{"a":…,"b":"$x"}'],
    ['changes where it does not', '{"a":…,"b":1}', '{"a":1,"b":2}', '{"a":…,"b":2}'],
    ['loses what is gone', '{"a":…,"b":1}', '{"b":1}', '{"b":1}'],
    ['gets what is new, at the end', '{"b":…}', '{"a":1,"b":2}', '{"b":…,"a":1}'],
    ['leaves open what was left open', '{"b":1,…}', '{"a":1,"b":2}', '{"b":2,…}'],
    ['changes within arrays', '[{"a":…,"b":1},2]', '[{"a":0,"b":0}]', '[{"a":…,"b":0}]'],
    ['grows with arrays', '["…"]', '["a","b"]', '["…","b"]'],
    ['keeps an open array open', '[1,…]', '[2,3]', '[2,…]'],
    ['gives up gaps that do not fit', '"Unknown …"', '"No such tool"', '"No such tool"'],
    ['becomes another kind', '{"a":{…}}', '{"a":[1]}', '{"a":[1]}'],
    ['keeps a name that fits and drops one that does not', '["$a","$a"]', '[1,2]', '["$a",2]'],
    ['takes signs for characters', '"a"', '"$a…"', '"$a\\u2026"'],
  ] as const

  test.each(cases)('%s', (_, old, actual, text) => {
    expect(printShape(adapt(readShape(old), readJson(actual), none).shape)).toBe(text)
  })

  test('is the value itself where there was none', () => {
    expect(printShape(adapt(undefined, readJson('{"a":1}'), none).shape)).toBe('{"a":1}')
  })
})
