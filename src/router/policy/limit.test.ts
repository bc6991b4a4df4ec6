import { describe, expect, test } from 'vitest'
import { limits as named } from '../../util/limits/limits.ts'
import type { CallLimits, UpstreamLimits } from '../options.ts'
import { Limits, type LimitsOptions, type Permit } from './limit.ts'

function limitsOf(
  router: LimitsOptions['router'],
  upstream?: UpstreamLimits,
  options: Partial<LimitsOptions> = {},
) {
  const time = { now: 0 }
  const limits = new Limits({ router, now: () => time.now, ...options })
  const files = upstream && limits.ofServer('files', upstream)
  const enter = (caller = 'ann', tool = 'read', signal?: AbortSignal) =>
    limits.acquire({ caller, tool }, files, signal)
  return { limits, time, enter }
}

/** The data of the refusal; undefined where the call was let through or waits. */
function refusal(enter: () => unknown): unknown {
  try {
    enter()
  } catch (error) {
    return error
  }
  return undefined
}

/** A permit that was acquired at once. */
function atOnce(permit: Permit | Promise<Permit>): Permit {
  if (permit instanceof Promise) throw new Error('it is queued')
  return permit
}

const places: readonly (readonly [
  name: string,
  set: (its: CallLimits) => [LimitsOptions['router'], UpstreamLimits | undefined],
])[] = [
  ['router', its => [its, undefined]],
  ['caller', its => [{ perCaller: its }, undefined]],
  ['server', its => [undefined, its]],
  ['server per caller', its => [undefined, { perCaller: its }]],
  ['tool', its => [undefined, { tools: { read: its } }]],
]

describe.each(places)('the limits of the %s', (name, set) => {
  test('refuse a call above the rate, and say when to retry', () => {
    const { enter, time } = limitsOf(...set({ perSecond: 4, burst: 2 }))
    atOnce(enter())
    atOnce(enter())
    const error = refusal(enter)
    expect(error).toMatchObject({
      kind: 'rate_limited',
      code: -32010,
      message: 'Rate limit exceeded',
      data: { retryAfterMs: 250, limit: name },
    })
    time.now += 249
    expect(refusal(enter)).toMatchObject({ data: { retryAfterMs: 1 } })
    time.now += 1
    expect(refusal(enter)).toBeUndefined()
  })

  test('run as many calls as allowed, queue as many as allowed, and refuse one more', async () => {
    const { enter } = limitsOf(...set({ concurrent: 1, queue: 1 }))
    const first = atOnce(enter())
    const second = enter()
    expect(second).toBeInstanceOf(Promise)
    expect(refusal(enter)).toMatchObject({
      kind: 'rate_limited',
      message: 'Too many calls at once',
      data: { retryAfterMs: named.overloadRetryMs.default, limit: name },
    })
    first.release()
    const permit = await second
    permit.release()
    atOnce(enter())
  })
})

describe('separate limits', () => {
  test('limit nothing without options', () => {
    const { enter, limits } = limitsOf(undefined, { tools: { write: { concurrent: 1 } } })
    for (let call = 0; call < 1000; call++) atOnce(enter())
    for (let call = 0; call < 1000; call++) {
      atOnce(limits.acquire({ caller: 'x' }, undefined)).release()
    }
  })

  test('each caller has its own, and so have other servers and tools', () => {
    const { enter, limits } = limitsOf(undefined, {
      perCaller: { perSecond: 1 },
      tools: { write: { perSecond: 1 } },
    })
    atOnce(enter('ann'))
    expect(refusal(() => enter('ann'))).toMatchObject({ data: { limit: 'server per caller' } })
    atOnce(enter('bob', 'write'))
    expect(refusal(() => enter('cem', 'write'))).toMatchObject({ data: { limit: 'tool' } })
    atOnce(enter('cem', 'read'))
    atOnce(limits.acquire({ caller: 'ann' }, undefined))
  })

  test('above the number of callers the least recently used one starts over', () => {
    const router = { perCaller: { perSecond: 1 } }
    const { enter } = limitsOf(router, undefined, { maxCallers: 2 })
    atOnce(enter('ann'))
    atOnce(enter('bob'))
    expect(refusal(() => enter('ann'))).toBeDefined()
    atOnce(enter('cem'))
    expect(refusal(() => enter('ann'))).toBeDefined()
    expect(refusal(() => enter('bob'))).toBeUndefined()
  })

  test('keep as many callers apart as the limit says', () => {
    const { enter } = limitsOf({ perCaller: { perSecond: 1 } })
    const most = named.limitedCallers.default
    for (let caller = 0; caller < most; caller++) atOnce(enter(`${caller}`))
    expect(refusal(() => enter('0'))).toBeDefined()
    atOnce(enter('one more'))
    expect(refusal(() => enter('2'))).toBeDefined()
    expect(refusal(() => enter('1'))).toBeUndefined()
  })
})

describe('a call that one limit refuses', () => {
  test('counts at none of the others', () => {
    const { enter, time } = limitsOf(
      { perSecond: 3, burst: 3 },
      { tools: { read: { perSecond: 1, burst: 1 } } },
    )
    atOnce(enter('ann', 'read'))
    for (let call = 0; call < 50; call++) expect(refusal(enter)).toBeDefined()
    atOnce(enter('ann', 'write'))
    atOnce(enter('ann', 'write'))
    expect(refusal(() => enter('ann', 'write'))).toMatchObject({ data: { limit: 'router' } })
    time.now += 1000
    atOnce(enter('ann', 'read'))
  })

  test('takes nothing of a rate where a queue is full', () => {
    const { enter } = limitsOf({ perSecond: 2 }, { concurrent: 1, queue: 0 })
    const permit = atOnce(enter())
    for (let call = 0; call < 50; call++) {
      expect(refusal(enter)).toMatchObject({ data: { limit: 'server' } })
    }
    permit.release()
    atOnce(enter())
  })

  test('gets the longest of the delays', () => {
    const { enter } = limitsOf({ perSecond: 1 }, { perSecond: 0.1 })
    atOnce(enter())
    expect(refusal(enter)).toMatchObject({ data: { retryAfterMs: 10_000, limit: 'server' } })
  })
})

describe('a queued call', () => {
  test('needs a signal only if it is queued, and gets the name of the limit', async () => {
    const limits = new Limits({ router: { concurrent: 1 }, now: () => 0 })
    const asked: string[] = []
    const late = new AbortController()
    const waitAt = (limit: string): AbortSignal => {
      asked.push(limit)
      return late.signal
    }
    const permit = atOnce(limits.acquire({ caller: 'ann' }, undefined, undefined, waitAt))
    expect(asked).toEqual([])
    const second = limits.acquire({ caller: 'ann' }, undefined, undefined, waitAt)
    expect(asked).toEqual(['router'])
    late.abort(new Error('too late'))
    await expect(second).rejects.toThrow('too late')
    permit.release()
    atOnce(limits.acquire({ caller: 'ann' }, undefined)).release()
  })

  test('does not hold what other calls could use', () => {
    const { enter } = limitsOf({ concurrent: 2 }, { tools: { slow: { concurrent: 1 } } })
    atOnce(enter('ann', 'slow'))
    for (let call = 0; call < 5; call++) void enter('ann', 'slow')
    atOnce(enter('bob', 'quick'))
  })

  test('keeps its place: it is not refused later', async () => {
    const { enter } = limitsOf({ concurrent: 2, queue: 0 }, { tools: { slow: { concurrent: 1 } } })
    const running = atOnce(enter('ann', 'slow'))
    const waiting = enter('ann', 'slow')
    expect(refusal(() => enter('bob', 'quick'))).toMatchObject({ data: { limit: 'router' } })
    running.release()
    ;(await waiting).release()
    atOnce(enter('bob', 'quick'))
  })

  test('releases all of its places if it is given up', async () => {
    const { enter } = limitsOf(
      { concurrent: 1, queue: 1 },
      { concurrent: 1, queue: 1, tools: { read: { concurrent: 1, queue: 1 } } },
    )
    const running = atOnce(enter())
    for (let round = 0; round < 3; round++) {
      const giveUp = new AbortController()
      const waiting = enter('ann', 'read', giveUp.signal)
      giveUp.abort(new Error('enough'))
      await expect(waiting).rejects.toThrow('enough')
    }
    running.release()
    atOnce(enter()).release()
  })

  test('releases what it holds already if it is given up at a later limit', async () => {
    const { enter } = limitsOf(undefined, {
      concurrent: 1,
      queue: 1,
      tools: { read: { concurrent: 1, queue: 0 } },
    })
    const running = atOnce(enter('ann', 'write'))
    const giveUp = new AbortController()
    const waiting = enter('ann', 'read', giveUp.signal)
    expect(refusal(enter)).toMatchObject({ data: { limit: 'tool' } })
    giveUp.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    running.release()
    atOnce(enter('ann', 'read'))
  })

  test('does not begin if its caller has already given it up', () => {
    const { enter } = limitsOf({ perSecond: 1 })
    const gone = AbortSignal.abort(new Error('gone'))
    expect(() => enter('ann', 'read', gone)).toThrow('gone')
    atOnce(enter())
  })

  test('is queued up to the default length if the options have none', () => {
    const { enter } = limitsOf({ concurrent: 1 })
    for (let call = 0; call <= named.callQueue.default; call++) void enter()
    expect(refusal(enter)).toBeDefined()
  })
})

test('a permit is released once, however often it is called', () => {
  const { enter } = limitsOf({ concurrent: 2, queue: 0 })
  const permit = atOnce(enter())
  atOnce(enter())
  permit.release()
  permit.release()
  atOnce(enter())
  expect(refusal(enter)).toBeDefined()
})

test.each<[string, UpstreamLimits, string]>([
  ['no calls at all', { perSecond: 0 }, 'limits of the server: perSecond must be'],
  ['half a call', { concurrent: 0.5 }, 'limits of the server: concurrent must be'],
  ['a burst without a rate', { burst: 5 }, 'limits of the server: burst needs perSecond'],
  ['a queue for nothing', { queue: 5 }, 'limits of the server: queue needs concurrent'],
  [
    'a negative queue',
    { perCaller: { concurrent: 1, queue: -1 } },
    'limits of the server per caller: queue must be',
  ],
  ['no burst', { tools: { x: { perSecond: 5, burst: 0 } } }, 'limits of the tool: burst must be'],
])('%s is refused as a limit', (_, limits, message) => {
  expect(() => limitsOf(undefined, limits)).toThrow(message)
})
