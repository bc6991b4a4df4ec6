import { afterEach, describe, expect, it } from 'vitest'
import { CallSpan } from '../../observe/call.ts'
import { events } from '../../observe/events.ts'
import { limits } from '../../util/limits/limits.ts'
import { CallFeed } from './calls.ts'
import { newText } from './logs.ts'
import { quantile } from './quantile.ts'
import { Ring } from './ring.ts'

describe('CallFeed', () => {
  let seq = 0
  const feed = new CallFeed({ people: 'hash', origin: 0 }, () => ++seq)
  afterEach(() => feed.stop())
  const span = (name: string) =>
    new CallSpan({ method: 'tools/call', name, server: 'a', caller: { principal: 'ada' } })

  it('shows failed calls first, and counts what it leaves out', () => {
    feed.start()
    const most = limits.consoleFrameCalls.default
    for (let at = 0; at < 10 * most; at++) span('fine').end('ok')
    for (let at = 0; at < 3; at++) span('broken').end('error', 'timeout', -32001)
    const { rows, left } = feed.frame()
    expect(rows).toHaveLength(most)
    expect(rows.filter(({ outcome }) => outcome === 'error')).toHaveLength(3)
    expect(left).toEqual([{ server: 'a', outcome: 'ok', count: 9 * most + 3 }])
    expect(feed.frame()).toEqual({ rows: [], left: [], inFlight: 0 })
  })

  it('keeps the number of a call, its attempts and its waits', () => {
    feed.start()
    const call = span('slow')
    const startedMs = call.startedMs - 1000
    events.callWaited.publish({ call, reason: 'limit', startedMs, durationMs: 5 })
    const attempt = { call, server: 'a', startedMs, durationMs: 2 }
    events.callAttempted.publish({ ...attempt, attempt: 1, instance: '0', failure: 'closed' })
    events.callAttempted.publish({ ...attempt, attempt: 2, instance: '1' })
    call.retries = 1
    call.end('ok')
    const [row] = feed.frame().rows
    expect(row).toMatchObject({
      name: 'slow',
      retries: 1,
      principal: expect.stringMatching(/^\w{8}$/),
    })
    expect(row?.spans?.map(({ what, failure }) => [what, failure])).toEqual([
      ['wait', undefined],
      ['attempt', 'closed'],
      ['attempt', undefined],
    ])
  })

  it('is subscribed to nothing unless it is started', () => {
    expect(events.callStarted.hasSubscribers).toBe(false)
    feed.start()
    expect(events.callStarted.hasSubscribers).toBe(true)
    feed.stop()
    expect(events.callAttempted.hasSubscribers).toBe(false)
  })
})

it('a ring keeps the newest values', () => {
  const ring = new Ring<number>(3)
  for (const value of [1, 2, 3, 4, 5]) ring.push(value)
  expect([ring.list(), ring.after(4), ring.after(0), ring.after(5)]).toEqual([
    [3, 4, 5],
    [5],
    [3, 4, 5],
    [],
  ])
})

it.each([
  [[0, 0], null],
  [[10, 0], 50],
  [[0, 10], 150],
  [[0, 0, 4], 200],
])('the median of %j is %s', (counts, expected) => {
  expect(quantile([0.1, 0.2], counts, 0.5)).toEqual(
    expected === null ? null : expect.closeTo(expected),
  )
})

it.each([
  ['', 'a\n', 'a\n'],
  ['a\n', 'a\nb\n', 'b\n'],
  ['a\nb\n', 'a\nb\n', ''],
  ['x a\nb\n', 'b\nc\n', 'b\nc\n'],
])('of the output %j and then %j, %j is new', (before, now, expected) => {
  expect(newText(before, now)).toBe(expected)
})
