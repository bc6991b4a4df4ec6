import { expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../../util/limits/limits.ts'
import { deferred } from '../../util/promises.ts'
import { Deadlines } from '../../util/time/deadline.ts'
import type { PoolOptions } from '../options.ts'
import type { UpstreamConnection } from './connection.ts'
import { SpareConnections } from './spare-connections.ts'

/** What is looked at of a connection. */
function connectionOf(inFlight = 0) {
  const lost = deferred<undefined>()
  const connection = {
    lost: lost.promise,
    isOpen: true,
    inFlight,
    received: 0,
    isClosed: false,
    lose() {
      connection.isOpen = false
      lost.resolve(undefined)
    },
    async close() {
      connection.isClosed = true
      connection.lose()
    },
    closeUnlessRetired: () => connection.close(),
    closeWhenUnused: () => connection.close(),
  }
  return connection
}

const asConnection = (one: object): UpstreamConnection => one as unknown as UpstreamConnection

function sparesOf(options: PoolOptions) {
  const clock = fakeClock()
  const opened: ReturnType<typeof connectionOf>[] = []
  const server = { isDown: false, tried: 0 }
  const spares = new SpareConnections(options, {
    deadlines: new Deadlines(clock),
    open: async () => {
      server.tried++
      if (server.isDown) throw new Error('down')
      const connection = connectionOf()
      opened.push(connection)
      return asConnection(connection)
    },
    watch: () => () => {},
  })
  const pass = async (ms = 0): Promise<void> => {
    clock.advance(ms)
    await new Promise<void>(resolve => setImmediate(resolve))
  }
  return { spares, opened, server, pass }
}

test('the minimum is opened, and what is lost is replaced', async () => {
  const { spares, opened, pass } = sparesOf({ min: 3, max: 3 })
  spares.start()
  await pass()
  expect([spares.size, opened.length]).toEqual([2, 2])
  opened[0]?.lose()
  await pass()
  expect([spares.size, opened.length]).toEqual([2, 3])
})

test('calls go to the connection with the fewest in flight', async () => {
  const { spares, opened, pass } = sparesOf({ min: 3, max: 3 })
  spares.start()
  await pass()
  const first = connectionOf(2)
  const [second, third] = opened
  if (second === undefined || third === undefined) throw new Error('nothing was opened')
  second.inFlight = 1
  expect(spares.leastBusy(asConnection(first))).toBe(third)
  third.inFlight = 3
  expect(spares.leastBusy(asConnection(first))).toBe(second)
  second.isOpen = false
  expect(spares.leastBusy(asConnection(first))).toBe(first)
})

test('further ones are opened while all are in use, up to the maximum, and closed when idle', async () => {
  const { spares, opened, pass } = sparesOf({ min: 1, max: 3 })
  spares.start()
  const first = connectionOf()
  spares.leastBusy(asConnection(first))
  await pass()
  expect(spares.size).toBe(0)
  first.inFlight = 1
  for (let call = 0; call < 10; call++) {
    spares.leastBusy(asConnection(first))
    for (const one of opened) one.inFlight = 1
    await pass()
  }
  expect(spares.size).toBe(2)
  for (const one of opened) one.inFlight = 0
  await pass(2 * limits.upstreamIdleMs.default)
  await pass(2 * limits.upstreamIdleMs.default)
  expect([spares.size, opened.every(one => one.isClosed)]).toEqual([0, true])
})

test('what cannot be opened is tried again, less and less often', async () => {
  const { spares, server, pass } = sparesOf({ min: 2, max: 2 })
  server.isDown = true
  spares.start()
  for (let turn = 0; turn < 100; turn++) await pass(100)
  expect(server.tried).toBeLessThan(50)
  server.isDown = false
  await pass(2 * limits.restartMaxMs.default)
  expect(spares.size).toBe(1)
})

test('nothing is opened any more once it was stopped', async () => {
  const { spares, opened, server, pass } = sparesOf({ min: 3, max: 3 })
  spares.start()
  await pass()
  spares.stop()
  await pass(2 * limits.restartMaxMs.default)
  expect([spares.size, server.tried, opened.every(one => one.isClosed)]).toEqual([0, 2, true])
})

test.each<[PoolOptions, string]>([
  [{ min: 0 }, 'pool.min'],
  [{ min: 4, max: 2 }, 'pool.max'],
])('%o is refused', (options, name) => {
  expect(() => sparesOf(options)).toThrow(name)
})
