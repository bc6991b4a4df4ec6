import { expect, test } from 'vitest'
import { InFlight } from './in-flight.ts'

test('there is room for so many', () => {
  const inFlight = new InFlight(2)
  inFlight.enter()
  expect(inFlight.isFull()).toBe(false)
  inFlight.enter()
  expect(inFlight.isFull()).toBe(true)
  inFlight.leave()
  expect(inFlight.isFull()).toBe(false)
})

test('whoever waits for the end is told when the last one leaves, however many wait', async () => {
  const inFlight = new InFlight(10)
  await inFlight.drained(1000)
  inFlight.enter()
  inFlight.enter()
  let isOver = false
  const all = Promise.all([inFlight.drained(60_000), inFlight.drained(60_000)]).then(() => {
    isOver = true
  })
  inFlight.leave()
  await Promise.resolve()
  expect(isOver).toBe(false)
  inFlight.leave()
  await all
})

test('nobody waits longer than was said', async () => {
  const inFlight = new InFlight(10)
  inFlight.enter()
  await inFlight.drained(1)
  inFlight.leave()
})

test('those that only listen take no place', () => {
  const inFlight = new InFlight(1)
  inFlight.enter()
  expect(inFlight.isFull(1)).toBe(false)
  inFlight.enter()
  expect(inFlight.isFull(1)).toBe(true)
})
