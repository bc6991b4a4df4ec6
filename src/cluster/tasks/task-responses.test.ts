import { expect, test } from 'vitest'
import { memory } from '../../backplane/memory/memory.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../../util/limits/limits.ts'
import { TaskResponses } from './task-responses.ts'

test('responses reach the node that runs the task, which confirms them', async () => {
  const { bus } = memory()
  const received: unknown[] = []
  const stop = await new TaskResponses(bus).receive('t', async responses => {
    received.push(responses)
  })
  expect(await new TaskResponses(bus).send('t', { name: { action: 'decline' } })).toBe(true)
  expect(received).toEqual([{ name: { action: 'decline' } }])
  stop()
})

test('responses that no node confirms were not delivered', async () => {
  const clock = fakeClock()
  const sent = new TaskResponses(memory().bus, clock).send('t', {})
  await new Promise(resolve => setImmediate(resolve))
  clock.advance(limits.sharedTaskResponseMs.default)
  expect(await sent).toBe(false)
  expect(clock.pending).toBe(0)
})
