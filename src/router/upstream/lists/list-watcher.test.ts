import { expect, test } from 'vitest'
import type { Client } from '../../../client/client.ts'
import { fakeClock } from '../../../testing/fake-clock.ts'
import { limits } from '../../../util/limits/limits.ts'
import { Deadlines } from '../../../util/time/deadline.ts'
import { ListWatcher } from './list-watcher.ts'

/** A watcher of a server whose tools cannot be listed. */
function follow(onError: (watcher: ListWatcher) => void) {
  const clock = fakeClock()
  const deadlines = new Deadlines(clock)
  let reads = 0
  const client = {
    server: { capabilities: { tools: {} }, revision: { features: {} } },
    tools: () => {
      reads++
      throw new Error('unreadable')
    },
  } as unknown as Client
  const watcher: ListWatcher = new ListWatcher(client, {
    timeoutMs: 1000,
    deadlines,
    subscribed: () => [],
    onRead: (_, { failures }) => {
      if (failures.length > 0) onError(watcher)
    },
    onSubscribed: () => {},
    onUpdated: () => {},
  })
  watcher.start()
  return { watcher, deadlines, clock, reads: () => reads }
}

const delivered = () => new Promise<void>(resolve => setImmediate(resolve))

test('a list that cannot be read is read again after a while', async () => {
  const { watcher, clock, reads } = follow(() => {})
  await delivered()
  expect(reads()).toBe(1)
  clock.advance(limits.listRetryMs.default + 100)
  await delivered()
  expect(reads()).toBe(2)
  watcher.stop()
})

test('a watcher that its own host ends leaves nothing behind', async () => {
  const { deadlines, reads } = follow(watcher => watcher.stop())
  await delivered()
  expect(reads()).toBe(1)
  expect(deadlines.size).toBe(0)
})
