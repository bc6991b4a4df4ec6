import { expect, test } from 'vitest'
import { SlidingWindow } from './sliding-window.ts'

test('admits as many events as it may within any window', () => {
  const window = new SlidingWindow(2, 100)
  expect([window.add(0), window.add(50), window.add(99)]).toEqual([true, true, false])
  expect([window.add(100), window.add(149), window.add(150)]).toEqual([true, false, true])
})

test('reports how long until another event is admitted', () => {
  const window = new SlidingWindow(1, 100)
  expect(window.waitMs(0)).toBe(0)
  window.add(10)
  expect(window.waitMs(30)).toBe(80)
  expect(window.waitMs(110)).toBe(0)
  expect(new SlidingWindow(0, 100).waitMs(0)).toBe(100)
})

test('admits nothing where the maximum is 0, and starts anew once cleared', () => {
  expect(new SlidingWindow(0, 100).add(0)).toBe(false)
  const window = new SlidingWindow(1, 100)
  window.add(0)
  window.clear()
  expect(window.add(1)).toBe(true)
})
