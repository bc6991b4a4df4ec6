import { expect, test } from 'vitest'
import { type InFlightCall, InFlightList } from './in-flight-list.ts'

const owners = (list: InFlightList): unknown[] => Array.from(list, ({ owner }) => owner)

function calls(): [InFlightCall, InFlightCall, InFlightCall] {
  return [{ owner: 'a' }, { owner: 'b' }, { owner: 'c' }]
}

test('keeps calls in the order in which they were added, whichever are removed', () => {
  const [a, b, c] = calls()
  const list = new InFlightList()
  for (const call of [a, b, c, a]) list.add(call)
  expect(owners(list)).toEqual(['a', 'b', 'c'])
  expect(list.size).toBe(3)
  expect(list.delete(b)).toBe(true)
  expect(owners(list)).toEqual(['a', 'c'])
  expect(list.delete(c)).toBe(true)
  list.add(b)
  expect(list.delete(a)).toBe(true)
  expect(owners(list)).toEqual(['b'])
  expect(list.delete(b)).toBe(true)
  expect([list.size, ...list]).toEqual([0])
})

test('does not remove a call that it does not hold', () => {
  const [a, b] = calls()
  const list = new InFlightList()
  expect(list.delete(a)).toBe(false)
  list.add(a)
  expect([list.has(a), list.has(b)]).toEqual([true, false])
  expect(list.delete(b)).toBe(false)
  expect(list.size).toBe(1)
})

test('holds a call in one list at a time', () => {
  const [, , c] = calls()
  const first = new InFlightList()
  const second = new InFlightList()
  first.add(c)
  second.add(c)
  expect([first.size, first.has(c), second.size, second.has(c)]).toEqual([0, false, 1, true])
  expect(first.delete(c)).toBe(false)
})

test('visits every call although the visited one is removed meanwhile', () => {
  const list = new InFlightList()
  for (const call of calls()) list.add(call)
  for (const call of list) list.delete(call)
  expect(list.size).toBe(0)
})

test('keeps no reference from a removed call to its neighbors', () => {
  const [a, b, c] = calls()
  const list = new InFlightList()
  for (const call of [a, b, c]) list.add(call)
  list.delete(b)
  expect([b.list, b.previous, b.following]).toEqual([undefined, undefined, undefined])
})
