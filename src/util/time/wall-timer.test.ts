import { expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { startAt } from './wall-timer.ts'

const day = 86_400_000
const start = Date.UTC(2026, 0)

function world() {
  const clock = fakeClock()
  const now = () => start + clock.now()
  let runs = 0
  const stop = (time: number) => startAt(time, () => runs++, clock, now)
  return { clock, stop, runs: () => runs }
}

test('a timer for a time that is 90 days away runs then, and not when a native timer would end', () => {
  const { clock, stop, runs } = world()
  stop(start + 90 * day)
  clock.advance(90 * day - 1)
  expect(runs()).toBe(0)
  clock.advance(1)
  expect(runs()).toBe(1)
  expect(clock.pending).toBe(0)
})

test('a timer for the past runs at once, and a cancelled one never', () => {
  const { clock, stop, runs } = world()
  stop(start - day)
  clock.advance(0)
  expect(runs()).toBe(1)
  const cancel = stop(start + 90 * day)
  clock.advance(60 * day)
  cancel()
  clock.advance(60 * day)
  expect(runs()).toBe(1)
  expect(clock.pending).toBe(0)
})
