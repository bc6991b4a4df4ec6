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

  it('shows the newest progress of a call, cut at the limit, and that it was cancelled', () => {
    feed.start()
    const call = span('long')
    for (let progress = 1; progress <= 3; progress++) {
      const message = 'x'.repeat(limits.consoleProgressLength.default + 1)
      events.callProgressed.publish({ call, progress, total: 4, message })
    }
    call.end('cancelled')
    const [row] = feed.frame().rows
    expect(row).toMatchObject({
      outcome: 'cancelled',
      progress: { progress: 3, total: 4, reports: 3 },
    })
    expect(row?.progress?.message).toHaveLength(limits.consoleProgressLength.default)
    events.callProgressed.publish({ call: span('unknown'), progress: 1 })
    expect(feed.frame().rows).toEqual([])
  })

  it('keeps as many parts of a call as the limit says', () => {
    feed.start()
    const call = span('retried')
    const startedMs = call.startedMs
    for (let at = 0; at <= limits.consoleSpans.default; at++) {
      events.callWaited.publish({ call, reason: 'limit', startedMs, durationMs: 1 })
    }
    call.end('ok')
    expect(feed.frame().rows[0]?.spans).toHaveLength(limits.consoleSpans.default)
  })

  it('follows as many calls in flight, and keeps as many rows, as the limits say', () => {
    feed.start()
    const calls = Array.from({ length: limits.consoleInFlight.default + 1 }, () => span('held'))
    expect(feed.frame().inFlight).toBe(limits.consoleInFlight.default)
    for (const call of calls) call.end('ok')
    for (
      let at = 0;
      at < limits.consoleCalls.default / limits.consoleFrameCalls.default + 1;
      at++
    ) {
      for (let each = 0; each < limits.consoleFrameCalls.default; each++) span('fine').end('ok')
      feed.frame()
    }
    expect(feed.list()).toHaveLength(limits.consoleCalls.default)
  })

  it('marks a call as slow from the limit on', () => {
    feed.start()
    const call = span('slow')
    Object.defineProperty(call, 'startedMs', { value: call.startedMs - limits.slowCallMs.default })
    call.end('ok')
    span('fast').end('ok')
    expect(feed.frame().rows.map(({ isSlow }) => isSlow)).toEqual([true, undefined])
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
