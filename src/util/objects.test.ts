import { describe, expect, it, test } from 'vitest'
import {
  assignMembers,
  copyWithout,
  deepFreeze,
  defined,
  frozenCopy,
  isDeepFrozen,
  isRecord,
  ownMember,
  setMember,
  stringsIn,
} from './objects.ts'

test.each([
  [{}, true],
  [{ a: 1 }, true],
  [Object.create(null), true],
  [[], false],
  [null, false],
  [undefined, false],
  ['x', false],
  [() => {}, false],
])('isRecord(%s) is %s', (value, expected) => {
  expect(isRecord(value)).toBe(expected)
})

test('stringsIn returns the strings of an array, and undefined for any other value', () => {
  expect(stringsIn(['a', 1, 'b', null])).toEqual(['a', 'b'])
  expect(stringsIn('a')).toBeUndefined()
})

test('defined drops the members without a value', () => {
  expect(defined({ a: 1, b: undefined, c: null })).toEqual({ a: 1, c: null })
  expect(defined(undefined)).toEqual({})
})

describe('deepFreeze', () => {
  it('freezes everything in a value and returns the value itself', () => {
    const value = { list: [{ deep: { name: 'a' } }], nothing: null }

    expect(deepFreeze(value)).toBe(value)
    expect(Object.isFrozen(value)).toBe(true)
    expect(Object.isFrozen(value.list)).toBe(true)
    expect(Object.isFrozen(value.list[0]?.deep)).toBe(true)
  })

  it.each([['text'], [1], [null], [undefined]])('returns %s unchanged', value => {
    expect(deepFreeze(value)).toBe(value)
  })
})

describe('frozenCopy', () => {
  it('copies as a wire would and leaves the original unfrozen', () => {
    const value = { title: undefined, info: { name: 'a' } }

    const copy = frozenCopy(value)

    expect(copy).toStrictEqual({ info: { name: 'a' } })
    expect(Object.isFrozen(copy.info)).toBe(true)
    expect(Object.isFrozen(value)).toBe(false)
    expect(Object.isFrozen(value.info)).toBe(false)
  })

  it('throws for a value that is not JSON', () => {
    expect(() => frozenCopy({ id: 1n })).toThrow(TypeError)
  })
})

test('isDeepFrozen recognizes the objects that deepFreeze froze', () => {
  expect(isDeepFrozen(deepFreeze({ a: 1 }))).toBe(true)
  expect(isDeepFrozen(Object.freeze({ a: 1 }))).toBe(false)
})

describe('members with names from outside', () => {
  const hostile = JSON.parse('{"a":1,"__proto__":{"b":2},"constructor":3}')

  it('are set as own members', () => {
    const to: Record<string, unknown> = {}
    setMember(to, '__proto__', { b: 2 })
    setMember(to, 'toString', 1)
    expect(Object.getPrototypeOf(to)).toBe(Object.prototype)
    expect(JSON.stringify(to)).toBe('{"__proto__":{"b":2},"toString":1}')
  })

  it('are copied as own members', () => {
    const to: Record<string, unknown> = { c: 1 }
    assignMembers(to, hostile)
    expect(JSON.stringify(to)).toBe('{"c":1,"a":1,"__proto__":{"b":2},"constructor":3}')
    expect(to.b).toBeUndefined()
    const copy = copyWithout(hostile, new Set(['a']))
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"b":2},"constructor":3}')
    expect(copy.b).toBeUndefined()
  })

  it('are not copied if they are inherited', () => {
    expect(copyWithout(Object.create({ a: 1 }), new Set())).toEqual({})
  })

  it('are read only if the object has them itself', () => {
    expect(ownMember(hostile, 'constructor')).toBe(3)
    expect(ownMember({}, 'constructor')).toBeUndefined()
    expect(ownMember(Object.create({ _meta: 1 }), '_meta')).toBeUndefined()
    expect(ownMember('text', 'length')).toBeUndefined()
  })
})
