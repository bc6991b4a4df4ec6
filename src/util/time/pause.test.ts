import { expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { Deadlines } from './deadline.ts'
import { Pause } from './pause.ts'

function make() {
  const clock = fakeClock()
  const deadlines = new Deadlines(clock)
  return { clock, deadlines, pause: new Pause(clock, deadlines) }
}

test('a pause tells how much of it is left, and ends by itself', async () => {
  const { clock, deadlines, pause } = make()
  expect(pause.leftMs).toBeUndefined()
  const waited = pause.wait(1000)
  expect(pause.leftMs).toBe(1000)
  clock.advance(400)
  expect(pause.leftMs).toBe(600)
  clock.advance(700)
  await waited
  expect([pause.leftMs, deadlines.size]).toEqual([undefined, 0])
})

test('a pause ends when somebody says so, and the next is as long as it is to be', async () => {
  const { deadlines, pause } = make()
  pause.end()
  const waited = pause.wait(1000)
  pause.end()
  await waited
  expect([pause.leftMs, deadlines.size]).toEqual([undefined, 0])
  void pause.wait(50)
  expect(pause.leftMs).toBe(50)
  pause.end()
})
