import { expect, test } from 'vitest'
import { InFlight } from './in-flight.ts'

test('the number of requests is limited', () => {
  const inFlight = new InFlight(2)
  inFlight.enter()
  expect(inFlight.isFull()).toBe(false)
  inFlight.enter()
  expect(inFlight.isFull()).toBe(true)
  inFlight.leave()
  expect(inFlight.isFull()).toBe(false)
})

test('all waiters are resolved when the last request has left', async () => {
  const inFlight = new InFlight(10)
  await inFlight.drained(1000)
  inFlight.enter()
  inFlight.enter()
  let isFinished = false
  const all = Promise.all([inFlight.drained(60_000), inFlight.drained(60_000)]).then(() => {
    isFinished = true
  })
  inFlight.leave()
  await Promise.resolve()
  expect(isFinished).toBe(false)
  inFlight.leave()
  await all
})

test('no waiter waits longer than its timeout', async () => {
  const inFlight = new InFlight(10)
  inFlight.enter()
  await inFlight.drained(1)
  inFlight.leave()
})

test('long-lived requests are not counted', () => {
  const inFlight = new InFlight(1)
  inFlight.enter()
  expect(inFlight.isFull(1)).toBe(false)
  inFlight.enter()
  expect(inFlight.isFull(1)).toBe(true)
})
