import { describe, expect, test } from 'vitest'
import type { Id } from '../../jsonrpc/message.ts'
import { revisionNamed } from '../../mcp/revisions/revisions.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../../util/limits/limits.ts'
import { Deadlines } from '../../util/time/deadline.ts'
import type { InFlightCall } from './in-flight-list.ts'
import { RequestAttribution } from './request-attribution.ts'

const session = { revision: revisionNamed('2025-11-25') }
const stateless = { revision: revisionNamed('2026-07-28') }
const ask = async () => ({})
const result = { content: [] }

function made(attributionTimeoutMs: number = limits.attributionTimeoutMs.default) {
  const clock = fakeClock()
  const attribution = new RequestAttribution({
    clock,
    deadlines: new Deadlines(clock),
    attributionTimeoutMs,
  })
  return { clock, attribution }
}

/** A call in flight attributed caller takes server requests. */
function begun(attribution: RequestAttribution, owner: string): InFlightCall {
  const call: InFlightCall = { owner, ask }
  attribution.begin(call)
  return call
}

/** Attributes a server request, and returns the outcome once it is known: the call, or why there is noCall. */
function attributed(
  attribution: RequestAttribution,
  more: { about?: Id; params?: unknown; signal?: AbortSignal } = {},
) {
  const signal = more.signal ?? new AbortController().signal
  let known: unknown
  const request = { method: 'roots/list', ...more, signal }
  Promise.resolve()
    .then(() => attribution.attribute(request))
    .then(
      asker => (known = asker),
      error => (known = error.message),
    )
  return async (): Promise<unknown> => {
    await new Promise(resolve => setImmediate(resolve))
    return known
  }
}

const ambiguous = expect.stringContaining('it could belong to calls of several callers')
const noCall = 'roots/list: no call is in flight that it could belong to'
const abandoned = 'roots/list: the call that it belongs to was abandoned'

describe('a server request that names no call', () => {
  test('is rejected while no call is in flight', async () => {
    const { attribution } = made()
    expect(await attributed(attribution)()).toBe(noCall)
    const ada = begun(attribution, 'ada')
    attribution.end(ada)
    expect(await attributed(attribution)()).toBe(noCall)
  })

  test('belongs to the latest askable call of the only owner', async () => {
    const { attribution } = made()
    begun(attribution, 'ada')
    const latest = begun(attribution, 'ada')
    attribution.begin({ owner: 'ada' })
    expect(await attributed(attribution)()).toBe(latest)
  })

  test('is rejected if its owner takes no server requests', async () => {
    const { attribution } = made()
    attribution.begin({ owner: 'ada' })
    expect(await attributed(attribution)()).toContain('takes no server requests')
  })

  test('is held until the calls of other owners have completed, but not for later calls', async () => {
    const { attribution } = made()
    const ada = begun(attribution, 'ada')
    const bob = begun(attribution, 'bob')
    const known = attributed(attribution)
    expect(await known()).toBeUndefined()
    expect(attribution.ambiguous).toBe(1)
    begun(attribution, 'carl')
    attribution.end(ada, undefined, result)
    expect(await known()).toBe(bob)
    expect(attribution.ambiguous).toBe(0)
  })

  test.each([
    ['with an error', undefined],
    ['with a result that says so', { content: [], isError: true }],
  ])('is not attributed to another call because a candidate has failed %s', async (_, failed) => {
    const { attribution, clock } = made()
    const ada = begun(attribution, 'ada')
    begun(attribution, 'bob')
    const known = attributed(attribution)
    await known()
    attribution.end(ada, undefined, failed)
    expect(await known()).toBeUndefined()
    clock.advance(2 * limits.attributionTimeoutMs.default)
    expect(await known()).toEqual(ambiguous)
  })

  test('is rejected if the last calls complete together', async () => {
    const { attribution } = made()
    const all = [begun(attribution, 'ada'), begun(attribution, 'bob')]
    const known = attributed(attribution)
    await known()
    for (const call of all) attribution.end(call, undefined, result)
    expect(await known()).toBe(noCall)
  })

  test('is rejected if it is still ambiguous after the time limit', async () => {
    const { attribution, clock } = made()
    begun(attribution, 'ada')
    begun(attribution, 'bob')
    const known = attributed(attribution)
    await known()
    clock.advance(limits.attributionTimeoutMs.default - 100)
    expect(await known()).toBeUndefined()
    clock.advance(200)
    expect(await known()).toEqual(ambiguous)
    expect(attribution.ambiguous).toBe(0)
  })

  test('is rejected at once if the time limit is 0', async () => {
    const { attribution } = made(0)
    begun(attribution, 'ada')
    begun(attribution, 'bob')
    expect(await attributed(attribution)()).toEqual(ambiguous)
  })

  test('is rejected when the server cancels it', async () => {
    const { attribution } = made()
    const ada = begun(attribution, 'ada')
    begun(attribution, 'bob')
    const stop = new AbortController()
    const known = attributed(attribution, { signal: stop.signal })
    await known()
    // At the same time it would have been attributed.
    attribution.end(ada, undefined, result)
    stop.abort(new Error('never mind'))
    expect(await known()).toBe('never mind')
    expect(attribution.ambiguous).toBe(0)
  })

  test('is held only while the number of held requests is below the limit', async () => {
    const { attribution } = made()
    const ada = begun(attribution, 'ada')
    const bob = begun(attribution, 'bob')
    const all = Array.from({ length: limits.ambiguousRequests.default }, () =>
      attributed(attribution),
    )
    for (const known of all) expect(await known()).toBeUndefined()
    expect(await attributed(attribution)()).toEqual(ambiguous)
    attribution.end(bob, undefined, result)
    for (const known of all) expect(await known()).toBe(ada)
  })
})

describe('a server request that names its call', () => {
  test('belongs to the request on attributed stream it comes', async () => {
    const { attribution } = made()
    const ada = begun(attribution, 'ada')
    begun(attribution, 'bob')
    attribution.bind(1, ada)
    expect(await attributed(attribution, { about: 1 })()).toBe(ada)
    attribution.end(ada, 1)
    expect(await attributed(attribution, { about: 1 })()).toBe(noCall)
  })

  test('belongs to the task that it names', async () => {
    const { attribution } = made()
    const ada: InFlightCall = { owner: 'ada', ask }
    attribution.keep(ada, 'task-1')
    begun(attribution, 'bob')
    const params = { _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'task-1' } } }
    expect(await attributed(attribution, { params })()).toBe(ada)
    // On the stream of a request that polls the task.
    expect(await attributed(attribution, { params, about: 7 })()).toBe(ada)
  })

  test('is held until the task that it names is known, and belongs to no other call', async () => {
    const { attribution, clock } = made()
    const params = { _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'task-1' } } }
    begun(attribution, 'bob')
    const early = attributed(attribution, { params })
    expect(await early()).toBeUndefined()
    const ada: InFlightCall = { owner: 'ada', ask }
    attribution.keep(ada, 'task-1')
    expect(await early()).toBe(ada)
    attribution.release(ada, 'task-1', result)
    const late = [
      attributed(attribution, { params }),
      attributed(attribution, { params, about: 7 }),
    ]
    for (const known of late) expect(await known()).toBeUndefined()
    clock.advance(2 * limits.attributionTimeoutMs.default)
    for (const known of late) expect(await known()).toBe(noCall)
  })
})

describe('an abandoned call', () => {
  test('gets no server requests, and no other caller gets one that may be its own', async () => {
    const { attribution, clock } = made()
    const ada = begun(attribution, 'ada')
    attribution.abandon(ada, 1, session)
    attribution.end(ada, 1)
    expect(attribution.size).toBe(0)
    expect(await attributed(attribution)()).toBe(abandoned)
    begun(attribution, 'bob')
    const known = attributed(attribution)
    expect(await known()).toBeUndefined()
    expect(attribution.callFor(undefined)).toBeUndefined()
    clock.advance(2 * limits.attributionTimeoutMs.default)
    expect(await known()).toEqual(ambiguous)
  })

  test('stays a candidate of requests that are held', async () => {
    const { attribution } = made()
    const ada = begun(attribution, 'ada')
    const bob = begun(attribution, 'bob')
    const known = attributed(attribution)
    await known()
    attribution.abandon(ada, 1, session)
    attribution.end(ada, 1)
    expect(await known()).toBeUndefined()
    attribution.onLate(1, result)
    expect(await known()).toBe(bob)
  })

  test('may have left a request behind when it fails, but sends no other', async () => {
    const { attribution, clock } = made()
    attribution.abandon(begun(attribution, 'ada'), 1, session)
    const bob = begun(attribution, 'bob')
    const known = attributed(attribution)
    await known()
    attribution.onLate(1)
    expect(await known()).toBeUndefined()
    expect(await attributed(attribution)()).toBe(bob)
    clock.advance(2 * limits.attributionTimeoutMs.default)
    expect(await known()).toEqual(ambiguous)
  })

  test('is not a candidate any more once its server has responded', async () => {
    const { attribution } = made()
    attribution.abandon(begun(attribution, 'ada'), 1, session)
    const bob = begun(attribution, 'bob')
    attribution.onLate(2)
    attribution.onLate(1)
    expect(await attributed(attribution)()).toBe(bob)
  })

  test('is not a candidate any more after a while', async () => {
    const { attribution, clock } = made()
    attribution.abandon(begun(attribution, 'ada'), 1, session)
    const bob = begun(attribution, 'bob')
    clock.advance(limits.abandonedMs.default - 1)
    expect(attribution.callFor(undefined)).toBeUndefined()
    clock.advance(1)
    expect(attribution.callFor(undefined)).toBe(bob)
    expect(await attributed(attribution)()).toBe(bob)
  })

  test('makes no request of its own owner ambiguous', async () => {
    const { attribution } = made()
    attribution.abandon(begun(attribution, 'ada'), 1, session)
    const next = begun(attribution, 'ada')
    expect(await attributed(attribution)()).toBe(next)
  })

  test('is no candidate on a stateless server, which cannot send requests', async () => {
    const { attribution } = made()
    const ada = begun(attribution, 'ada')
    attribution.abandon(ada, 1, stateless)
    attribution.end(ada, 1)
    const bob = begun(attribution, 'bob')
    expect(await attributed(attribution)()).toBe(bob)
  })

  test('is a candidate even beyond the number that is remembered', async () => {
    const { attribution, clock } = made(0)
    for (let id = 0; id <= limits.abandonedCalls.default; id++) {
      attribution.abandon(begun(attribution, `caller ${id}`), id, session)
    }
    // All of them except the one that was dropped.
    for (let id = 0; id <= limits.abandonedCalls.default; id++) attribution.onLate(id)
    const bob = begun(attribution, 'bob')
    expect(await attributed(attribution)()).toEqual(ambiguous)
    clock.advance(limits.abandonedMs.default)
    expect(await attributed(attribution)()).toBe(bob)
  })
})

describe('a connection is open to owners that make no request ambiguous', () => {
  test.each([
    ['idle', () => {}, [true, true]],
    ['in use', (attribution: RequestAttribution) => begun(attribution, 'ada'), [true, true]],
    [
      'used by an owner that got a server request',
      async (attribution: RequestAttribution) => {
        begun(attribution, 'ada')
        await attributed(attribution)()
      },
      [true, false],
    ],
    [
      'with an ambiguous request',
      async (attribution: RequestAttribution) => {
        begun(attribution, 'ada')
        begun(attribution, 'bob')
        await attributed(attribution)()
      },
      [false, false],
    ],
    [
      'with an abandoned call',
      (attribution: RequestAttribution) =>
        attribution.abandon(begun(attribution, 'ada'), 1, session),
      [true, false],
    ],
  ] as const)('%s', async (_, prepare, expected) => {
    const { attribution } = made()
    await prepare(attribution)
    expect(['ada', 'carl'].map(owner => attribution.isOpenTo(owner, false))).toEqual(expected)
  })

  test('where each request has a stream, abandoned calls do not matter', () => {
    const { attribution } = made()
    attribution.abandon(begun(attribution, 'ada'), 1, session)
    expect(attribution.isOpenTo('carl', true)).toBe(true)
  })
})
