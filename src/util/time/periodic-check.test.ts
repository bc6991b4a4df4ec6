import { expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { type Deferred, deferred } from '../promises.ts'
import { Deadlines } from './deadline.ts'
import { PeriodicCheck } from './periodic-check.ts'

function open(intervalMs = 100) {
  const clock = fakeClock()
  const checks: Deferred<void>[] = []
  const run = (): Promise<void> => {
    const check = deferred<void>()
    checks.push(check)
    return check.promise
  }
  const periodic = new PeriodicCheck(intervalMs, run, new Deadlines(clock, 1))
  const finish = async (): Promise<void> => {
    checks.at(-1)?.resolve()
    await Promise.resolve()
    await Promise.resolve()
  }
  return { clock, checks, periodic, finish }
}

test('checks once per interval, counted from the end of the previous check', async () => {
  const { clock, checks, periodic, finish } = open()
  periodic.start()
  clock.advance(99)
  expect(checks).toHaveLength(0)
  clock.advance(1)
  expect(checks).toHaveLength(1)
  clock.advance(1000)
  expect(checks).toHaveLength(1)
  await finish()
  clock.advance(100)
  expect(checks).toHaveLength(2)
})

test('checks no more once it is stopped, be it during a check', async () => {
  const { clock, checks, periodic, finish } = open()
  periodic.start()
  clock.advance(100)
  periodic.stop()
  await finish()
  clock.advance(1000)
  expect([checks.length, periodic.isRunning]).toEqual([1, false])
})

test('a check that was begun before a restart schedules nothing', async () => {
  const { clock, checks, periodic, finish } = open()
  periodic.start()
  clock.advance(100)
  periodic.start()
  await finish()
  clock.advance(100)
  expect(checks).toHaveLength(2)
})

test('never checks with an interval of 0', () => {
  const { clock, checks, periodic } = open(0)
  periodic.start()
  clock.advance(10_000)
  expect(checks).toHaveLength(0)
})
