import { expect, it } from 'vitest'
import { ambientTrace, isTraced, shareTrace, withinTrace } from './ambient-trace.ts'

it('the first who knows the trace is asked, for as long as it is there', () => {
  expect([isTraced(), ambientTrace()]).toEqual([false, undefined])
  const endFirst = shareTrace(() => ({ traceparent: 'one' }))
  const endSecond = shareTrace(() => ({ traceparent: 'two' }))
  expect(ambientTrace()).toEqual({ traceparent: 'one' })
  endFirst()
  endFirst()
  expect(ambientTrace()).toEqual({ traceparent: 'two' })
  endSecond()
  expect([isTraced(), ambientTrace()]).toEqual([false, undefined])
})

const before = { traceparent: 'old', tracestate: 'old=1', baggage: 'old=1', 'a/b': 1 }

it.each([
  ['nothing', undefined, before],
  ['a parent', { traceparent: 'new' }, { traceparent: 'new', baggage: 'old=1', 'a/b': 1 }],
  [
    'all three',
    { traceparent: 'new', tracestate: 'new=1', baggage: 'new=1' },
    { traceparent: 'new', tracestate: 'new=1', baggage: 'new=1', 'a/b': 1 },
  ],
  ['baggage alone', { baggage: 'new=1' }, { ...before, baggage: 'new=1' }],
])('within a trace that tells %s', (_, trace, expected) => {
  const end = shareTrace(() => trace)
  expect(withinTrace(before)).toEqual(expected)
  expect(before.traceparent).toBe('old')
  end()
})
