import { expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { Deadlines } from '../../util/time/deadline.ts'
import { Drain } from './drain.ts'

/** A drain of a peer with some requests in flight, and whether it is over. */
function drainOf(inFlight: number, drainMs: number, lingerMs: number) {
  const clock = fakeClock()
  const peer = { inFlight, received: 0 }
  const drain = new Drain({
    deadlines: new Deadlines(clock, 1),
    isIdle: () => peer.inFlight === 0,
    received: () => peer.received,
  })
  let isOver = false
  const done = drain.whenDone(drainMs, lingerMs)
  if (done === undefined) isOver = true
  else
    void done.then(() => {
      isOver = true
    })
  const pass = async (ms: number): Promise<boolean> => {
    clock.advance(ms)
    await undefined
    return isOver
  }
  return { peer, drain, pass }
}

test('an idle peer waits for nothing', async () => {
  const { pass } = drainOf(0, 1000, 0)
  expect(await pass(0)).toBe(true)
})

test('a peer waits until its last request is answered, at most the given time', async () => {
  const answered = drainOf(1, 1000, 0)
  expect(await answered.pass(500)).toBe(false)
  answered.peer.inFlight = 0
  answered.drain.onChange()
  expect(await answered.pass(0)).toBe(true)
  const stuck = drainOf(1, 1000, 0)
  expect(await stuck.pass(998)).toBe(false)
  expect(await stuck.pass(5)).toBe(true)
})

test('a peer that lingers waits until nothing has arrived for that long', async () => {
  const { peer, pass } = drainOf(0, 10_000, 100)
  expect(await pass(60)).toBe(false)
  peer.received++
  expect(await pass(60)).toBe(false)
  expect(await pass(60)).toBe(false)
  expect(await pass(60)).toBe(true)
})

test('a peer that was stopped for a while looks once more at what has arrived', async () => {
  const { peer, pass } = drainOf(0, 10_000, 100)
  // The first of two timers is late, and what arrived before it is read after it.
  expect(await pass(50)).toBe(false)
  peer.received++
  expect(await pass(50)).toBe(false)
  expect(await pass(200)).toBe(true)
})

test('a peer that gets requests all the time lingers no longer than it may', async () => {
  const { peer, pass } = drainOf(0, 1000, 100)
  let passed = 0
  for (; !(await pass(10)); passed += 10) peer.received++
  expect(passed).toBeGreaterThan(900)
  expect(passed).toBeLessThan(1100)
})

test('a peer does not linger once nothing can arrive, or there is no time left', async () => {
  const disconnected = drainOf(0, 1000, 100)
  disconnected.drain.stopLingering()
  expect(await disconnected.pass(0)).toBe(true)
  const hurried = drainOf(0, 1000, 100)
  hurried.drain.restart(0)
  expect(await hurried.pass(0)).toBe(true)
})
