import { describe, expect, test } from 'vitest'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { until } from '../support/processes.ts'
import { ledgerHere, worker } from './ledger.ts'
import { caller, failureOf, pidsOf, routed } from './routed.ts'

describe('a program that works and is killed', () => {
  test('is restarted at once, however often, and calls wait for it', async () => {
    const ledger = ledgerHere()
    const router = await routed({ work: worker({ ledger: ledger.file }) })
    const client = await caller(router)
    // More often than `maxRestarts` allows for a program that answers nothing.
    for (let kill = 0; kill < 8; kill++) {
      expect(await ledger.call(client, 'work__work')).toMatchObject({ outcome: 'ok' })
      const [pid] = pidsOf(router, 'work')
      process.kill(pid as number, 'SIGKILL')
      await until(() => pidsOf(router, 'work')[0] !== pid)
    }
    expect(await ledger.call(client, 'work__work')).toMatchObject({ outcome: 'ok' })
    expect(ledger.reconcile()).toEqual([])
    expect(router.server('work')).toMatchObject({ level: 'ok', instances: [{ restarts: 8 }] })
  })

  test('is restarted although other instances get all calls', async () => {
    const clock = fakeClock()
    const router = await routed({ work: worker({}, { instances: 2 }) }, { clock })
    const idle = () => router.server('work')?.instances[1]
    for (let kill = 0; kill < 8; kill++) {
      clock.advance(limits.restartUnusedMs.default)
      const pid = idle()?.pids[0]
      process.kill(pid as number, 'SIGKILL')
      await until(() => {
        clock.advance(1)
        return idle()?.state === 'ready' && idle()?.pids[0] !== pid
      })
    }
    expect(router.server('work')).toMatchObject({ level: 'ok' })
  })

  test('is quarantined if it does so before its first answer each time', async () => {
    const router = await routed({ work: worker({ role: 'exits-in-initialize' }) })
    await until(() => router.server('work')?.instances[0]?.state === 'quarantined')
    expect(router.server('work')?.reason).toContain('restarted 5 times')
  })
})

describe('a call to a tool whose server is starting', () => {
  test('waits for it after quarantine and retry', async () => {
    const router = await routed({ work: worker({}, { restart: { maxRestarts: 0 } }) })
    const client = await caller(router)
    const [pid] = pidsOf(router, 'work')
    process.kill(pid as number, 'SIGKILL')
    await until(() => router.server('work')?.instances[0]?.state === 'quarantined')
    expect(await failureOf(client.call('work__work', { nonce: 'a' }))).toMatchObject({
      code: -32000,
      data: { reason: 'it is quarantined after too many restarts' },
    })
    router.retry('work')
    expect((await client.call('work__work', { nonce: 'b' })).text).toBe('b')
  })

  test('is found as soon as an instance is ready', async () => {
    const router = await routed({ work: worker({}, { restart: { maxRestarts: 0 } }) })
    for (let turn = 0; turn < 3; turn++) {
      const [pid] = pidsOf(router, 'work')
      process.kill(pid as number, 'SIGKILL')
      await until(() => router.server('work')?.instances[0]?.state === 'quarantined')
      expect(router.tools()).toEqual([])
      router.retry('work')
      await until(() => router.server('work')?.instances[0]?.state === 'ready')
      expect(router.tools().map(({ name }) => name)).toContain('work__work')
    }
  })

  test('is not "not found" although the server was never listed', async () => {
    const router = await routed({
      slow: worker({ role: 'never-initializes' }, { connectTimeoutMs: 100 }),
    })
    const client = await caller(router)
    for (let turn = 0; turn < 5; turn++) {
      expect(await failureOf(client.call('slow__work'))).toMatchObject({ code: -32000 })
    }
  })
})
