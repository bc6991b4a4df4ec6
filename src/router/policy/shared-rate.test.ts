import { describe, expect, test } from 'vitest'
import { memory } from '../../backplane/memory/memory.ts'
import { limits as named } from '../../util/limits/limits.ts'
import type { CallLimits } from '../options.ts'
import { Limits } from './limit.ts'
import { bucketName, type SharedBuckets, SharedRate } from './shared-rate.ts'

/** An engine whose only bucket has `tokens`, and counts what it is asked for. */
function engine(tokens: number) {
  const state = { tokens, isDown: false, trips: 0, nodes: 2 }
  const shared: SharedBuckets = {
    nodes: () => state.nodes,
    take: async buckets => {
      state.trips++
      if (state.isDown) throw new Error('down')
      const [{ want } = { want: 0 }] = buckets
      const taken = Math.min(want, state.tokens)
      state.tokens -= taken
      return { taken: [taken], waitMs: taken === 0 ? 100 : 0 }
    },
  }
  return { state, shared }
}

function rateOf(tokens: number, perSecond = 100) {
  const time = { now: 0 }
  const { state, shared } = engine(tokens)
  const rate = new SharedRate('x', { perSecond, burst: 50 }, shared, () => time.now)
  return { time, state, rate }
}

describe('a rate that routers share', () => {
  test('leases the tokens of leasedRateMs, divided by the nodes', async () => {
    const { rate, state } = rateOf(1000)
    expect(rate.isUnknown).toBe(true)
    await rate.fill()
    const share = (100 * named.leasedRateMs.default) / 1000 / 2
    expect(state).toMatchObject({ trips: 1, tokens: 1000 - Math.ceil(share) })
    for (let taken = 0; taken < Math.ceil(share); taken++) expect(rate.take()).toBe(true)
    expect([rate.take(), rate.isUnknown]).toEqual([false, true])
  })

  test('drops tokens that were not used within leasedTokensMs', async () => {
    const { rate, time } = rateOf(1000)
    await rate.fill()
    time.now += named.leasedTokensMs.default - 1
    expect([rate.isUnknown, rate.waitMs()]).toEqual([false, 0])
    time.now += 1
    expect([rate.isUnknown, rate.take()]).toEqual([true, false])
  })

  test('asks for all calls that wait', async () => {
    const { rate, state } = rateOf(1000)
    rate.waiting = 40
    await Promise.all([rate.fill(), rate.fill()])
    expect(state).toMatchObject({ trips: 1, tokens: 1000 - 40 })
  })

  test('asks nobody until there can be a token again', async () => {
    const { rate, state, time } = rateOf(0)
    await rate.fill()
    expect([rate.isUnknown, rate.take(), rate.waitMs()]).toEqual([false, false, 100])
    time.now += 99
    expect(rate.isUnknown).toBe(false)
    time.now += 1
    expect([rate.isUnknown, state.trips]).toEqual([true, 1])
  })

  test('allows the share of this router while the engine is down', async () => {
    const { rate, state, time } = rateOf(1000)
    state.isDown = true
    let allowed = 0
    for (; time.now < 10_000; time.now++) {
      if (rate.isUnknown) await rate.fill()
      if (rate.take()) allowed++
    }
    // Half of 100 a second for ten seconds, and half of the burst.
    expect(allowed).toBeGreaterThan(500)
    expect(allowed).toBeLessThanOrEqual(526)
    state.isDown = false
    await rate.fill()
    expect(rate.take()).toBe(true)
  })
})

test('names of buckets are short, and different', () => {
  const long = 'x'.repeat(1000)
  const names = [
    bucketName('caller', 'a'),
    bucketName('caller', '\0\ud800'),
    bucketName('caller', `${long}1`),
    bucketName('caller', `${long}2`),
    bucketName('caller', `${'x'.repeat(107)}${'😀'.repeat(100)}`),
  ]
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) {
    expect(name.isWellFormed()).toBe(true)
    expect(name).not.toContain('\0')
    expect(Buffer.byteLength(name)).toBeLessThan(named.clusterKeyBytes.default)
  }
})

describe('limits of several routers', () => {
  const routers = async (count: number, limit: CallLimits, perCaller?: CallLimits) => {
    const backplane = memory()
    await backplane.open()
    const shared = { nodes: () => count, take: backplane.rates.take.bind(backplane.rates) }
    const all = Array.from(
      { length: count },
      () => new Limits({ router: { ...limit, perCaller }, shared, now: () => performance.now() }),
    )
    const admitted = async (router: Limits, caller = ''): Promise<boolean> => {
      try {
        const permit = await router.acquire({ caller }, undefined)
        permit.release()
        return true
      } catch {
        return false
      }
    }
    return { all, admitted, close: () => backplane.close() }
  }

  test('admit no more than one router would', async () => {
    const { all, admitted, close } = await routers(3, { perSecond: 0.001, burst: 20 })
    const calls = await Promise.all(
      all.flatMap(router => Array.from({ length: 20 }, () => admitted(router))),
    )
    const { length } = calls.filter(is => is)
    expect(length).toBeLessThanOrEqual(20)
    // Leased tokens that one router does not use are of no use to the others.
    expect(length).toBeGreaterThan(10)
    await close()
  })

  test('with the scope "node" each router counts alone', async () => {
    const limit = { perSecond: 0.001, burst: 5, scope: 'node' } as const
    const { all, admitted, close } = await routers(2, limit)
    for (const router of all) {
      const calls = await Promise.all(Array.from({ length: 10 }, () => admitted(router)))
      expect(calls.filter(is => is)).toHaveLength(5)
    }
    await close()
  })

  test('a caller that has used up its rate does not affect others', async () => {
    const { all, admitted, close } = await routers(
      2,
      { perSecond: 1000, burst: 1000 },
      { perSecond: 0.001, burst: 2 },
    )
    const [router] = all
    if (router === undefined) throw new Error('no router')
    for (let call = 0; call < 10; call++) await admitted(router, 'ann')
    expect(await admitted(router, 'ann')).toBe(false)
    expect(await admitted(router, 'bob')).toBe(true)
    await close()
  })
})
