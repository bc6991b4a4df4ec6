import { describe, expect, test } from 'vitest'
import type { Id } from '../../jsonrpc/message.ts'
import { revisionNamed } from '../../mcp/revisions/revisions.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../../util/limits/limits.ts'
import { Deadlines } from '../../util/time/deadline.ts'
import type { Errand } from '../forward/errand.ts'
import { Underway } from './request-attribution.ts'

const session = { revision: revisionNamed('2025-11-25') }
const stateless = { revision: revisionNamed('2026-07-28') }
const ask = async () => ({})
const result = { content: [] }

function made(doubtMs: number = limits.doubtMs.default) {
  const clock = fakeClock()
  const underway = new Underway({ clock, deadlines: new Deadlines(clock), doubtMs })
  return { clock, underway }
}

/** A call of somebody's who can be asked, under way. */
function begun(underway: Underway, owner: string): Errand {
  const errand: Errand = { owner, ask }
  underway.begin(errand)
  return errand
}

/** Asks whose a question is, and tells when it is known: the call, or why there is none. */
function whose(
  underway: Underway,
  more: { about?: Id; params?: unknown; signal?: AbortSignal } = {},
) {
  const signal = more.signal ?? new AbortController().signal
  let known: unknown
  const question = { method: 'roots/list', ...more, signal }
  Promise.resolve()
    .then(() => underway.whose(question))
    .then(
      asker => (known = asker),
      error => (known = error.message),
    )
  return async (): Promise<unknown> => {
    await new Promise(resolve => setImmediate(resolve))
    return known
  }
}

const doubtful = expect.stringContaining('cannot be told whose call it belongs to')
const none = 'roots/list: no call is under way that it could belong to'
const givenUp = 'roots/list: the call that it belongs to has been given up'

describe('a question that names no call', () => {
  test('is nobody’s while no call is under way', async () => {
    const { underway } = made()
    expect(await whose(underway)()).toBe(none)
    const ada = begun(underway, 'ada')
    underway.end(ada)
    expect(await whose(underway)()).toBe(none)
  })

  test('is that of the only owner, by its latest call that can be asked', async () => {
    const { underway } = made()
    begun(underway, 'ada')
    const latest = begun(underway, 'ada')
    underway.begin({ owner: 'ada' })
    expect(await whose(underway)()).toBe(latest)
  })

  test('is refused where its owner cannot be asked', async () => {
    const { underway } = made()
    underway.begin({ owner: 'ada' })
    expect(await whose(underway)()).toContain('cannot be asked anything')
  })

  test('waits for the calls of others to be answered, and for none that began later', async () => {
    const { underway } = made()
    const ada = begun(underway, 'ada')
    const bob = begun(underway, 'bob')
    const known = whose(underway)
    expect(await known()).toBeUndefined()
    expect(underway.doubts).toBe(1)
    begun(underway, 'carl')
    underway.end(ada, undefined, result)
    expect(await known()).toBe(bob)
    expect(underway.doubts).toBe(0)
  })

  test.each([
    ['with an error', undefined],
    ['with a result that says so', { content: [], isError: true }],
  ])('is not another’s because a call that may have asked has failed %s', async (_, failed) => {
    const { underway, clock } = made()
    const ada = begun(underway, 'ada')
    begun(underway, 'bob')
    const known = whose(underway)
    await known()
    underway.end(ada, undefined, failed)
    expect(await known()).toBeUndefined()
    clock.advance(2 * limits.doubtMs.default)
    expect(await known()).toEqual(doubtful)
  })

  test('is nobody’s when the last calls are answered together', async () => {
    const { underway } = made()
    const all = [begun(underway, 'ada'), begun(underway, 'bob')]
    const known = whose(underway)
    await known()
    for (const errand of all) underway.end(errand, undefined, result)
    expect(await known()).toBe(none)
  })

  test('is refused when it is not clear in time', async () => {
    const { underway, clock } = made()
    begun(underway, 'ada')
    begun(underway, 'bob')
    const known = whose(underway)
    await known()
    clock.advance(limits.doubtMs.default - 100)
    expect(await known()).toBeUndefined()
    clock.advance(200)
    expect(await known()).toEqual(doubtful)
    expect(underway.doubts).toBe(0)
  })

  test('is refused at once where nothing is to be waited for', async () => {
    const { underway } = made(0)
    begun(underway, 'ada')
    begun(underway, 'bob')
    expect(await whose(underway)()).toEqual(doubtful)
  })

  test('ends with the request of the server', async () => {
    const { underway } = made()
    const ada = begun(underway, 'ada')
    begun(underway, 'bob')
    const stop = new AbortController()
    const known = whose(underway, { signal: stop.signal })
    await known()
    // In the same moment it would have become clear.
    underway.end(ada, undefined, result)
    stop.abort(new Error('never mind'))
    expect(await known()).toBe('never mind')
    expect(underway.doubts).toBe(0)
  })

  test('waits with so many others and no more', async () => {
    const { underway } = made()
    const ada = begun(underway, 'ada')
    const bob = begun(underway, 'bob')
    const all = Array.from({ length: limits.doubtfulQuestions.default }, () => whose(underway))
    for (const known of all) expect(await known()).toBeUndefined()
    expect(await whose(underway)()).toEqual(doubtful)
    underway.end(bob, undefined, result)
    for (const known of all) expect(await known()).toBe(ada)
  })
})

describe('a question that names its call', () => {
  test('is that of the request on whose stream it comes, whoever else calls', async () => {
    const { underway } = made()
    const ada = begun(underway, 'ada')
    begun(underway, 'bob')
    underway.name(1, ada)
    expect(await whose(underway, { about: 1 })()).toBe(ada)
    underway.end(ada, 1)
    expect(await whose(underway, { about: 1 })()).toBe(none)
  })

  test('is that of the task that it names, whoever else calls', async () => {
    const { underway } = made()
    const ada: Errand = { owner: 'ada', ask }
    underway.keep(ada, 'task-1')
    begun(underway, 'bob')
    const params = { _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'task-1' } } }
    expect(await whose(underway, { params })()).toBe(ada)
    // On the stream of a request that asks how the task is.
    expect(await whose(underway, { params, about: 7 })()).toBe(ada)
  })

  test('waits for the task that it names to be known, and is that of nobody else', async () => {
    const { underway, clock } = made()
    const params = { _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'task-1' } } }
    begun(underway, 'bob')
    const early = whose(underway, { params })
    expect(await early()).toBeUndefined()
    const ada: Errand = { owner: 'ada', ask }
    underway.keep(ada, 'task-1')
    expect(await early()).toBe(ada)
    underway.forget(ada, 'task-1', result)
    const late = [whose(underway, { params }), whose(underway, { params, about: 7 })]
    for (const known of late) expect(await known()).toBeUndefined()
    clock.advance(2 * limits.doubtMs.default)
    for (const known of late) expect(await known()).toBe(none)
  })
})

describe('a call that was given up', () => {
  test('is asked nothing, and nobody else is asked what may be its', async () => {
    const { underway, clock } = made()
    const ada = begun(underway, 'ada')
    underway.abandon(ada, 1, session)
    underway.end(ada, 1)
    expect(underway.size).toBe(0)
    expect(await whose(underway)()).toBe(givenUp)
    begun(underway, 'bob')
    const known = whose(underway)
    expect(await known()).toBeUndefined()
    expect(underway.of(undefined)).toBeUndefined()
    clock.advance(2 * limits.doubtMs.default)
    expect(await known()).toEqual(doubtful)
  })

  test('stays in doubt where it was when it was given up', async () => {
    const { underway } = made()
    const ada = begun(underway, 'ada')
    const bob = begun(underway, 'bob')
    const known = whose(underway)
    await known()
    underway.abandon(ada, 1, session)
    underway.end(ada, 1)
    expect(await known()).toBeUndefined()
    underway.late(1, result)
    expect(await known()).toBe(bob)
  })

  test('may have left a question behind when it fails, and asks no other', async () => {
    const { underway, clock } = made()
    underway.abandon(begun(underway, 'ada'), 1, session)
    const bob = begun(underway, 'bob')
    const known = whose(underway)
    await known()
    underway.late(1)
    expect(await known()).toBeUndefined()
    expect(await whose(underway)()).toBe(bob)
    clock.advance(2 * limits.doubtMs.default)
    expect(await known()).toEqual(doubtful)
  })

  test('does not count any more once its server has answered it', async () => {
    const { underway } = made()
    underway.abandon(begun(underway, 'ada'), 1, session)
    const bob = begun(underway, 'bob')
    underway.late(2)
    underway.late(1)
    expect(await whose(underway)()).toBe(bob)
  })

  test('does not count for ever', async () => {
    const { underway, clock } = made()
    underway.abandon(begun(underway, 'ada'), 1, session)
    const bob = begun(underway, 'bob')
    clock.advance(limits.abandonedMs.default - 1)
    expect(underway.of(undefined)).toBeUndefined()
    clock.advance(1)
    expect(underway.of(undefined)).toBe(bob)
    expect(await whose(underway)()).toBe(bob)
  })

  test('makes nothing doubtful for its own owner', async () => {
    const { underway } = made()
    underway.abandon(begun(underway, 'ada'), 1, session)
    const next = begun(underway, 'ada')
    expect(await whose(underway)()).toBe(next)
  })

  test('is over where servers cannot ask', async () => {
    const { underway } = made()
    const ada = begun(underway, 'ada')
    underway.abandon(ada, 1, stateless)
    underway.end(ada, 1)
    const bob = begun(underway, 'bob')
    expect(await whose(underway)()).toBe(bob)
  })

  test('counts though there are too many to be remembered one by one', async () => {
    const { underway, clock } = made(0)
    for (let id = 0; id <= limits.abandonedCalls.default; id++) {
      underway.abandon(begun(underway, `caller ${id}`), id, session)
    }
    // All of them but the one that was forgotten.
    for (let id = 0; id <= limits.abandonedCalls.default; id++) underway.late(id)
    const bob = begun(underway, 'bob')
    expect(await whose(underway)()).toEqual(doubtful)
    clock.advance(limits.abandonedMs.default)
    expect(await whose(underway)()).toBe(bob)
  })
})

describe('a connection is open to whoever makes nothing doubtful', () => {
  test.each([
    ['idle', () => {}, [true, true]],
    ['in use', (underway: Underway) => begun(underway, 'ada'), [true, true]],
    [
      'used by somebody who was asked',
      async (underway: Underway) => {
        begun(underway, 'ada')
        await whose(underway)()
      },
      [true, false],
    ],
    [
      'one with a question in doubt',
      async (underway: Underway) => {
        begun(underway, 'ada')
        begun(underway, 'bob')
        await whose(underway)()
      },
      [false, false],
    ],
    [
      'one with a call that was given up',
      (underway: Underway) => underway.abandon(begun(underway, 'ada'), 1, session),
      [true, false],
    ],
  ] as const)('%s', async (_, prepare, expected) => {
    const { underway } = made()
    await prepare(underway)
    expect(['ada', 'carl'].map(owner => underway.isOpenTo(owner, false))).toEqual(expected)
  })

  test('where each request has a stream, calls that were given up keep nobody away', () => {
    const { underway } = made()
    underway.abandon(begun(underway, 'ada'), 1, session)
    expect(underway.isOpenTo('carl', true)).toBe(true)
  })
})
