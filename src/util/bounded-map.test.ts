import { expect, test } from 'vitest'
import { BoundedMap } from './bounded-map.ts'

const keysOf = (map: BoundedMap<number>) => [...'abcdef'].filter(key => map.get(key) !== undefined)

test('beyond its limit of entries, the oldest go', () => {
  const map = new BoundedMap<number>(2, 100)
  for (const key of 'abc') map.set(key, 1, 1)
  expect([keysOf(map), map.size]).toEqual([['b', 'c'], 2])
})

test('beyond its limit of weight, the oldest go, but never the newest', () => {
  const map = new BoundedMap<number>(10, 100)
  for (const key of 'abc') map.set(key, 1, 40)
  expect(keysOf(map)).toEqual(['b', 'c'])
  map.set('d', 1, 500)
  expect(keysOf(map)).toEqual(['d'])
  map.set('e', 1, 60)
  expect(keysOf(map)).toEqual(['e'])
})

test('an entry that is set again is the newest, with its new weight', () => {
  const map = new BoundedMap<number>(10, 100)
  map.set('a', 1, 90)
  map.set('b', 1, 10)
  map.set('a', 2, 10)
  map.set('c', 3, 80)
  expect(keysOf(map)).toEqual(['a', 'b', 'c'])
  map.set('d', 4, 10)
  expect(keysOf(map)).toEqual(['a', 'c', 'd'])
  map.delete('a')
  map.delete('x')
  expect(map.get('c')).toBe(3)
})
