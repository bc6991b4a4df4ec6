import { expect, test } from 'vitest'
import type { Client } from '../../client/client.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../../util/limits/limits.ts'
import { Deadlines } from '../../util/time/deadline.ts'
import { Follower } from './list-watcher.ts'

/** A follower of a server whose tools cannot be listed. */
function follow(onError: (follower: Follower) => void) {
  const clock = fakeClock()
  const deadlines = new Deadlines(clock)
  let reads = 0
  const client = {
    server: { capabilities: { tools: {} } },
    tools: () => {
      reads++
      throw new Error('unreadable')
    },
  } as unknown as Client
  const follower: Follower = new Follower(client, {
    timeoutMs: 1000,
    deadlines,
    wanted: () => [],
    onLists: () => {},
    onUpdated: () => {},
    onError: () => onError(follower),
  })
  follower.start()
  return { follower, deadlines, clock, reads: () => reads }
}

const told = () => new Promise<void>(resolve => setImmediate(resolve))

test('a list that cannot be read is read again after a while', async () => {
  const { follower, clock, reads } = follow(() => {})
  await told()
  expect(reads()).toBe(1)
  clock.advance(limits.listRetryMs.default + 100)
  await told()
  expect(reads()).toBe(2)
  follower.stop()
})

test('one that is ended by whoever it tells of that leaves nothing behind', async () => {
  const { deadlines, reads } = follow(follower => follower.stop())
  await told()
  expect(reads()).toBe(1)
  expect(deadlines.size).toBe(0)
})
