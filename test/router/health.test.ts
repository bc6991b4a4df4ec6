import { expect, onTestFinished, test } from 'vitest'
import { events } from '../../src/observe/events.ts'
import { until } from '../support/processes.ts'
import { worker } from './ledger.ts'
import { caller, pidsOf, routed } from './routed.ts'

test('a missed health check is visible from the first one, until the program responds again', async () => {
  const health = { intervalMs: 20, timeoutMs: 20, failures: 1_000_000 }
  const router = await routed({ work: worker({}, { health }) })
  const missed: string[] = []
  onTestFinished(events.healthMissed.subscribe(({ server }) => missed.push(server)))
  const [pid] = pidsOf(router, 'work')
  if (pid === undefined) throw new Error('the program does not run')
  process.kill(pid, 'SIGSTOP')
  onTestFinished(() => {
    process.kill(pid, 'SIGCONT')
  })
  await until(() => router.server('work')?.level === 'degraded')
  expect(router.server('work')?.reason).toMatch(/^missed \d+ health checks?$/)
  // It takes calls all the same, and `/readyz` says so.
  expect(router.health()).toMatchObject({ level: 'degraded' })
  const misses = (): number => Number(router.server('work')?.reason?.match(/\d+/)?.[0])
  await until(() => misses() >= 3)
  const reports = missed.length
  await until(() => misses() >= 5)
  expect(missed.length).toBe(reports)
  const client = await caller(router)
  const call = client.call('work__work', { nonce: 'a' })
  process.kill(pid, 'SIGCONT')
  expect((await call).text).toBe('a')
  await until(() => router.server('work')?.level === 'ok')
  expect(pidsOf(router, 'work')).toEqual([pid])
})
