import { expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../../util/limits/limits.ts'
import { Deadlines } from '../../util/time/deadline.ts'
import { Breaker, type BreakerState } from '../policy/breaker.ts'
import { BreakerProbe } from './breaker-probe.ts'

const everyMs = limits.breakerPanicMs.default

/** A breaker that opens after one failure, and its probe. */
function probed() {
  const clock = fakeClock()
  const server = { isAlive: false, asked: 0, decided: 0 }
  const probe = new BreakerProbe({
    deadlines: new Deadlines(clock),
    responds: async () => {
      server.asked++
      return server.isAlive
    },
    onProbed: () => server.decided++,
  })
  let state: BreakerState = 'closed'
  const breaker: Breaker = new Breaker(
    { failures: 1, successes: 1, openMs: 3_600_000 },
    {
      now: () => clock.now(),
      onChange: to => {
        const from = state
        state = to
        probe.onChange(breaker, from, to)
      },
    },
  )
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms)
    await new Promise<void>(resolve => setImmediate(resolve))
  }
  return { breaker, probe, server, pass }
}

test('sends a request as soon as the breaker opens, then periodically, and lets a trial through at the first response', async () => {
  const { breaker, server, pass } = probed()
  breaker.failed()
  await pass(0)
  expect([server.asked, breaker.state]).toEqual([1, 'open'])
  await pass(2 * everyMs)
  expect([server.asked, breaker.state]).toEqual([2, 'open'])
  server.isAlive = true
  await pass(2 * everyMs)
  expect([server.asked, breaker.state]).toEqual([3, 'half-open'])
  breaker.succeeded(breaker.begin())
  await pass(10 * everyMs)
  expect([server.asked, breaker.state]).toEqual([3, 'closed'])
})

test('says that nothing is decided only until the first answer', async () => {
  const { breaker, probe, server, pass } = probed()
  breaker.failed()
  expect([probe.isUndecided, server.decided]).toEqual([true, 0])
  await pass(0)
  expect([probe.isUndecided, server.decided]).toEqual([false, 1])
  await pass(2 * everyMs)
  expect([probe.isUndecided, server.decided]).toEqual([false, 2])
})

test('sends requests less and less often while the server responds and fails its trials', async () => {
  const { breaker, server, pass } = probed()
  server.isAlive = true
  breaker.failed()
  await pass(0)
  for (let trial = 0; trial < 60; trial++) {
    await pass(everyMs)
    if (breaker.state === 'half-open') breaker.failed(breaker.begin())
  }
  expect(server.asked).toBeLessThan(10)
})

test('sends nothing once it was stopped', async () => {
  const { breaker, probe, server, pass } = probed()
  breaker.failed()
  await pass(0)
  probe.stop()
  await pass(10 * everyMs)
  expect(server.asked).toBe(1)
})
