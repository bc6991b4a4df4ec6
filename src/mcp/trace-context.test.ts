import { expect, it } from 'vitest'
import type { TraceContext } from './meta.ts'
import {
  ambientTrace,
  isTraced,
  outsideTraces,
  shareTrace,
  type TraceSource,
  withinTrace,
} from './trace-context.ts'

function sourceOf(trace: TraceContext | undefined): TraceSource {
  let isOutside = false
  return {
    current: () => (isOutside ? undefined : trace),
    outside: run => {
      isOutside = true
      const given = run()
      isOutside = false
      return given
    },
  }
}

it('the first source is used until it is removed', () => {
  expect([isTraced(), ambientTrace()]).toEqual([false, undefined])
  const endFirst = shareTrace(sourceOf({ traceparent: 'one' }))
  const endSecond = shareTrace(sourceOf({ traceparent: 'two' }))
  expect(ambientTrace()).toEqual({ traceparent: 'one' })
  endFirst()
  endFirst()
  expect(ambientTrace()).toEqual({ traceparent: 'two' })
  endSecond()
  expect([isTraced(), ambientTrace()]).toEqual([false, undefined])
})

it('background work belongs to no trace, and runs without a source too', () => {
  expect(outsideTraces(() => 'run')).toBe('run')
  const end = shareTrace(sourceOf({ traceparent: 'one' }))
  expect(outsideTraces(ambientTrace)).toBeUndefined()
  expect(ambientTrace()).toEqual({ traceparent: 'one' })
  end()
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
])('within a trace with %s', (_, trace, expected) => {
  const end = shareTrace(sourceOf(trace))
  expect(withinTrace(before)).toEqual(expected)
  expect(before.traceparent).toBe('old')
  end()
})
