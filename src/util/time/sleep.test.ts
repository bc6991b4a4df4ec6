import { expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { sleep, withTimeout } from './sleep.ts'

test('a sleep returns how much of it is left, and ends when the time is up', async () => {
  const clock = fakeClock()
  const sleeping = sleep(1000, clock)
  expect(sleeping.leftMs).toBe(1000)
  clock.advance(400)
  expect(sleeping.leftMs).toBe(600)
  clock.advance(700)
  await sleeping.done
  expect([sleeping.leftMs, clock.pending]).toEqual([0, 0])
})

test('a sleep can be cut short, more than once', async () => {
  const clock = fakeClock()
  const sleeping = sleep(1000, clock)
  sleeping.wake()
  sleeping.wake()
  await sleeping.done
  expect(clock.pending).toBe(0)
})

test('withTimeout reports whether the work was done in time', async () => {
  const clock = fakeClock()
  expect(await withTimeout(100, clock, done => done())).toBe(true)
  expect(clock.pending).toBe(0)
  const late = withTimeout(100, clock, () => {})
  clock.advance(100)
  expect(await late).toBe(false)
})
