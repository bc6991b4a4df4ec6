import { expect, test } from 'vitest'
import type { Errand } from '../forward/errand.ts'
import { Errands } from './in-flight-list.ts'

const [a, b, c] = ['a', 'b', 'c'].map((owner): Errand => ({ owner })) as [Errand, Errand, Errand]

test('calls are told in the order in which they came, whoever leaves', () => {
  const errands = new Errands()
  for (const errand of [a, b, c, a]) errands.add(errand)
  expect([...errands]).toEqual([a, b, c])
  expect(errands.size).toBe(3)
  expect(errands.delete(b)).toBe(true)
  expect([...errands].map(({ owner }) => owner)).toEqual(['a', 'c'])
  expect(errands.delete(c)).toBe(true)
  errands.add(b)
  expect(errands.delete(a)).toBe(true)
  expect([...errands].map(({ owner }) => owner)).toEqual(['b'])
  expect(errands.delete(b)).toBe(true)
  expect([errands.size, ...errands]).toEqual([0])
})

test('what is not there cannot be taken away', () => {
  const errands = new Errands()
  expect(errands.delete(a)).toBe(false)
  errands.add(a)
  expect([errands.has(a), errands.has(b)]).toEqual([true, false])
  expect(errands.delete(b)).toBe(false)
  expect(errands.size).toBe(1)
})

test('a call is on one connection at a time', () => {
  const first = new Errands()
  const second = new Errands()
  first.add(c)
  second.add(c)
  expect([first.size, first.has(c), second.size, second.has(c)]).toEqual([0, false, 1, true])
  expect(first.delete(c)).toBe(false)
})
