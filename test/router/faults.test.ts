import { describe, expect, onTestFinished, test } from 'vitest'
import { RpcError } from '../../src/jsonrpc/error.ts'
import { isAlive, until } from '../support/processes.ts'
import { type Entry, ledgerHere, reconcile, worker } from './ledger.ts'
import { caller, failureOf, pidsOf, routed } from './routed.ts'
import { storm } from './storm.ts'

const often = { restart: { maxRestarts: 1000, minMs: 1, maxMs: 10 } }

describe('the ledger', () => {
  const asked = ['a', 'b', 'c']
  const well: readonly Entry[] = [
    { nonce: 'a', outcome: 'ok', said: 'a' },
    { nonce: 'b', outcome: 'unknown' },
    { nonce: 'c', outcome: 'not-done' },
  ]

  test('finds nothing wrong in correct entries', () => {
    expect(reconcile(asked, well, ['a', 'b'])).toEqual([])
    expect(reconcile(asked, well, ['a'])).toEqual([])
  })

  test.each<[string, readonly Entry[], readonly string[], string]>([
    ['a call without an outcome', well.slice(1), ['a'], 'a ended 0 times'],
    ['a call with two outcomes', [...well, well[1] as Entry], ['a'], 'b ended 2 times'],
    ['a repeated execution', well, ['a', 'a'], 'a was carried out 2 times'],
    [
      'a repeated execution with an unknown outcome',
      well,
      ['a', 'b', 'b'],
      'b was carried out 2 times',
    ],
    ['an answer without an execution', well, ['b'], 'a was answered and never carried out'],
    ['a refusal with an execution', well, ['a', 'c'], 'c was refused and carried out'],
    [
      'an execution that was never requested',
      well,
      ['a', 'x'],
      'x was carried out and never asked for',
    ],
    [
      'swapped answers',
      [{ nonce: 'a', outcome: 'ok', said: 'b' }, ...well.slice(1)],
      ['a'],
      'a was answered with b',
    ],
  ])('finds %s', (_, entries, executed, what) => {
    expect(reconcile(asked, entries, executed)).toEqual([what])
  })
})

describe('a program that is killed again and again', () => {
  const CALLS = 10_000
  const EACH = 400

  test(`loses and repeats nothing in ${CALLS} calls, and affects no other server`, {
    timeout: 300_000,
  }, async () => {
    const ledger = ledgerHere('w')
    const calm = ledgerHere('c')
    const router = await routed({
      // On a slow machine the next kill may hit the second attempt, and the one after that the third.
      work: worker(
        { ledger: ledger.file },
        { instances: 2, trustAnnotations: true, retry: { attempts: 10, budget: 1 }, ...often },
      ),
      calm: worker({ ledger: calm.file }),
    })
    const others = await caller(router)
    let isOver = false
    const beside = (async () => {
      while (!isOver) await calm.call(others, 'calm__work')
    })()
    const kills = await storm({
      router,
      server: 'work',
      clients: [
        await caller(router, { era: 'session' }),
        await caller(router, { era: 'stateless' }),
      ],
      ledger,
      calls: CALLS,
      atOnce: 8,
      isTimeToKill: call => call % EACH === 0,
    })
    isOver = true
    await beside

    expect(ledger.reconcile()).toEqual([])
    expect(ledger.entries).toHaveLength(CALLS)
    expect(kills).toBeGreaterThan(10)
    // Repeatable calls were retried; of the others only those in flight at a kill have an unknown outcome.
    const repeatable = ledger.entries.filter(entry => entry.isRepeatable)
    expect(repeatable.filter(({ outcome }) => outcome !== 'ok')).toEqual([])
    expect(ledger.count('not-done')).toBe(0)
    expect(ledger.count('unknown')).toBeLessThanOrEqual(kills * 16)
    expect(calm.reconcile()).toEqual([])
    expect(calm.count('ok')).toBe(calm.asked.length)
    expect(router.server('calm')?.instances[0]?.restarts).toBe(0)
    await until(() => pidsOf(router, 'work').length === 2)
    expect(router.server('work')?.instances.map(({ state }) => state)).toEqual(['ready', 'ready'])
  })

  test('fails the calls in flight at once, with an unknown outcome', async () => {
    const ledger = ledgerHere()
    const router = await routed({ work: worker({ ledger: ledger.file }, often) })
    const client = await caller(router)
    const [before] = pidsOf(router, 'work')
    const held = Array.from({ length: 5 }, () => ledger.call(client, 'work__hold'))
    const failing = client.call('work__hold', { nonce: 'seen' })
    await until(() => ledger.executed().length === 6)
    process.kill(before as number, 'SIGKILL')
    const error = await failureOf(failing)
    expect(error).toBeInstanceOf(RpcError)
    expect(error).toMatchObject({ data: { server: 'work', outcome: 'unknown' } })
    expect((await Promise.all(held)).map(({ outcome }) => outcome)).toEqual(
      Array(5).fill('unknown'),
    )
    // The next call waits for the replacement and is not affected.
    const { outcome } = await ledger.call(client, 'work__work')
    expect(outcome).toBe('ok')
    const [after] = pidsOf(router, 'work')
    expect(after).not.toBe(before)
    expect(isAlive(before as number)).toBe(false)
  })
})

describe('a program that is suspended and does not answer', () => {
  // On a busy machine a healthy process may take long to respond, but not this long.
  const watchful = { intervalMs: 20, timeoutMs: 2000, failures: 2 }

  test('is given up, gets no calls, and is replaced when it is gone', async () => {
    const ledger = ledgerHere()
    const router = await routed({
      work: worker({ ledger: ledger.file }, { instances: 2, health: watchful, ...often }),
    })
    const client = await caller(router)
    const [first, second] = pidsOf(router, 'work')
    process.kill(first as number, 'SIGSTOP')
    onTestFinished(() => {
      if (isAlive(first as number)) process.kill(first as number, 'SIGKILL')
    })
    await until(() => router.server('work')?.instances[0]?.state !== 'ready')
    const status = router.server('work')
    expect(status).toMatchObject({ level: 'degraded' })
    expect(status?.instances[0]?.reason).toContain('does not respond')
    for (let turn = 0; turn < 50; turn++) {
      expect((await ledger.call(client, 'work__work')).outcome).toBe('ok')
    }
    await until(() => !isAlive(first as number))
    await until(() => router.server('work')?.level === 'ok')
    const now = pidsOf(router, 'work')
    expect(now).toHaveLength(2)
    expect(now).toContain(second)
    expect(ledger.reconcile()).toEqual([])
  })

  test('costs callers a few timeouts, until its breaker opens', async () => {
    const ledger = ledgerHere()
    const router = await routed({
      work: worker(
        { ledger: ledger.file },
        {
          instances: 2,
          balance: 'round-robin',
          timeoutMs: 5000,
          health: { intervalMs: 0 },
          breaker: { failures: 3 },
        },
      ),
      calm: worker({ ledger: ledger.file }),
    })
    const client = await caller(router, { era: 'stateless' })
    const [first] = pidsOf(router, 'work')
    process.kill(first as number, 'SIGSTOP')
    onTestFinished(() => {
      if (isAlive(first as number)) process.kill(first as number, 'SIGKILL')
    })
    const calls = Array.from({ length: 6 }, () => client.call('work__work', { nonce: 'x' }))
    const settled = await Promise.allSettled(calls)
    expect(settled.map(({ status }) => status).sort()).toEqual([
      ...Array(3).fill('fulfilled'),
      ...Array(3).fill('rejected'),
    ])
    expect(router.server('work')?.instances[0]?.breaker).toBe('open')
    expect(router.server('work')?.instances[0]?.reason).toContain('3 failures')
    const rest = await Promise.all(
      Array.from({ length: 20 }, () => ledger.call(client, 'work__work')),
    )
    expect(rest.filter(({ outcome }) => outcome !== 'ok')).toEqual([])
    expect((await ledger.call(client, 'calm__work')).outcome).toBe('ok')
    process.kill(first as number, 'SIGCONT')
    // The program now answers the requests sent while it was suspended; their callers no longer wait.
    await ledger.call(client, 'work__work')
    await router.close({ drainMs: 0 })
    expect(isAlive(first as number)).toBe(false)
  })
})
