import { expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { Deadlines } from './deadline.ts'
import { Lapse } from './lapse.ts'

function open() {
  const clock = fakeClock()
  const lapsed: string[] = []
  const lapse = new Lapse<string>(1000, one => lapsed.push(one), new Deadlines(clock), clock)
  return { clock, lapsed, lapse }
}

test('things lapse in the order in which they came, unless they are taken out', () => {
  const { clock, lapsed, lapse } = open()
  for (const one of ['a', 'b', 'c']) {
    lapse.add(one)
    clock.advance(100)
  }
  lapse.delete('b')
  expect([lapse.first, lapse.waitedMs('a'), lapse.waitedMs('b')]).toEqual(['a', 300, undefined])
  clock.advance(750)
  expect(lapsed).toEqual(['a'])
  clock.advance(200)
  expect([lapsed, lapse.first]).toEqual([['a', 'c'], undefined])
})

test('a thing that comes again has the whole time again', () => {
  const { clock, lapsed, lapse } = open()
  lapse.add('a')
  clock.advance(900)
  lapse.add('b')
  lapse.add('a')
  clock.advance(900)
  expect([lapsed, lapse.first]).toEqual([[], 'b'])
  clock.advance(200)
  expect(lapsed).toEqual(['b', 'a'])
})
