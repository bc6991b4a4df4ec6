import { expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { systemClock } from './clock.ts'
import { Expiry } from './expiry.ts'

function open() {
  const clock = fakeClock()
  const expired: string[] = []
  const expiry = new Expiry<string>(item => expired.push(item), clock)
  return { clock, expired, expiry }
}

test('items with the same time to live expire in the order they were added, unless deleted', () => {
  const { clock, expired, expiry } = open()
  for (const item of ['a', 'b', 'c']) {
    expiry.add(item, 1000)
    clock.advance(100)
  }
  expiry.delete('b')
  expect([expiry.first, expiry.leftMs('a'), expiry.leftMs('b')]).toEqual(['a', 700, undefined])
  clock.advance(750)
  expect(expired).toEqual(['a'])
  clock.advance(200)
  expect([expired, expiry.first]).toEqual([['a', 'c'], undefined])
})

test('an item that is added again has its whole time again', () => {
  const { clock, expired, expiry } = open()
  expiry.add('a', 1000)
  clock.advance(900)
  expiry.add('b', 1000)
  expiry.add('a', 1000)
  clock.advance(900)
  expect([expired, expiry.first]).toEqual([[], 'b'])
  clock.advance(200)
  expect(expired).toEqual(['b', 'a'])
})

test('an item with a shorter time to live expires before one that was added earlier', () => {
  const { clock, expired, expiry } = open()
  expiry.add('long', 1000)
  expiry.add('short', 10)
  clock.advance(11)
  expect(expired).toEqual(['short'])
  clock.advance(1000)
  expect(expired).toEqual(['short', 'long'])
})

test('an item is expired as soon as it is due, and not after it was deleted', () => {
  const { clock, expiry } = open()
  expiry.add('a', 100)
  clock.advance(99)
  expect(expiry.isExpired('a')).toBe(false)
  expiry.delete('a')
  clock.advance(10)
  expect(expiry.isExpired('a')).toBe(false)
})

test('no timer is left once every item is gone', () => {
  const { clock, expired, expiry } = open()
  expiry.add('a', 100)
  expiry.delete('a')
  clock.advance(200)
  expect([expired, clock.pending]).toEqual([[], 0])
})

test('items do not keep the process alive, even if the system clock is given', () => {
  const before = process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  const expiry = new Expiry<string>(() => {}, systemClock)
  expiry.add('a', 600_000)
  const after = process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  expiry.delete('a')
  expect(after).toBe(before)
})
