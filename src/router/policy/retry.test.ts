import { describe, expect, test } from 'vitest'
import { ChannelError, type ChannelErrorCode } from '../../jsonrpc/channel.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { mcpMethods } from '../../mcp/methods.ts'
import { limits } from '../../util/limits/limits.ts'
import { type AttemptOutcome, endingOf, mayRetry, RetryBudget, safetyOf } from './retry.ts'

describe('whether a call may be retried', () => {
  const outcomes: readonly AttemptOutcome[] = ['answered', 'lost', 'timeout', 'ended']
  const flags = [false, true]
  const cases = outcomes.flatMap(outcome =>
    flags.flatMap(isReadOnly =>
      flags.flatMap(isIdempotent =>
        flags.map(wasSent => ({ outcome, isReadOnly, isIdempotent, wasSent })),
      ),
    ),
  )

  test.each(cases)(
    '$outcome, read-only $isReadOnly, idempotent $isIdempotent, sent $wasSent',
    ({ outcome, ...facts }) => {
      const isOpen = outcome === 'lost' || outcome === 'timeout'
      const isSafe = facts.isReadOnly || facts.isIdempotent || !facts.wasSent
      expect(mayRetry(outcome, facts)).toBe(isOpen && isSafe)
    },
  )
})

describe('how a call ended', () => {
  test.each<[ChannelErrorCode, AttemptOutcome, boolean]>([
    ['closed', 'lost', false],
    ['outcome-unknown', 'lost', true],
    ['timeout', 'timeout', true],
    ['too-many', 'lost', false],
    ['id-overflow', 'lost', false],
    ['refused', 'lost', false],
    ['too-slow', 'lost', true],
    ['too-large', 'ended', true],
    ['framing', 'ended', true],
    ['unserialisable', 'ended', false],
    ['id-collision', 'ended', false],
  ])('with a ChannelError %s', (code, outcome, wasSent) => {
    expect(endingOf(new ChannelError(code, 'x'))).toEqual({ outcome, wasSent })
  })

  test.each<[string, unknown, AttemptOutcome]>([
    ['an error that the server answered', errors.rateLimited(), 'answered'],
    ['the reason of a signal', new DOMException('x', 'AbortError'), 'ended'],
    ['anything else', 'x', 'ended'],
  ])('with %s', (_, error, outcome) => {
    expect(endingOf(error)).toEqual({ outcome, wasSent: true })
  })
})

describe('whether repeating a request is harmless', () => {
  test.each([
    ['nothing', undefined, false, false],
    ['that it changes nothing', { readOnlyHint: true }, true, true],
    ['that it may be repeated', { idempotentHint: true }, false, true],
    ['that it destroys nothing', { destructiveHint: false }, false, false],
  ])('a tool that says %s', (_, annotations, isReadOnly, isIdempotent) => {
    expect(safetyOf('tools/call', annotations)).toEqual({ isReadOnly, isIdempotent })
  })

  test('annotations of a tool count for tool calls only', () => {
    expect(safetyOf('tasks/cancel', { readOnlyHint: true }).isReadOnly).toBe(false)
  })

  test('the read-only requests of the protocol are those that read', () => {
    const reading = Object.keys(mcpMethods).filter(method => safetyOf(method).isReadOnly)
    expect(reading.sort()).toEqual([
      'completion/complete',
      'ping',
      'prompts/get',
      'prompts/list',
      'resources/directory/read',
      'resources/list',
      'resources/read',
      'resources/templates/list',
      'server/discover',
      'skills/get',
      'skills/list',
      'tasks/get',
      'tasks/list',
      'tools/list',
    ])
    expect(safetyOf('somebody/own').isReadOnly).toBe(false)
  })
})

describe('the retry budget', () => {
  const minimum = limits.retryMinimum.default
  const windowMs = limits.retryWindowMs.default

  function budgetOf(options = {}) {
    const time = { now: 123_456 }
    const budget = new RetryBudget(options, () => time.now)
    const called = (times: number) => {
      for (let left = times; left > 0; left--) budget.called()
    }
    const taken = () => {
      let count = 0
      while (count < 1000 && budget.take()) count++
      return count
    }
    return { budget, time, called, taken }
  }

  test('allows a few retries however few the calls', () => {
    const { taken } = budgetOf()
    expect(taken()).toBe(minimum)
  })

  test('allows a fifth of the calls', () => {
    const { called, taken } = budgetOf()
    called(200)
    expect(taken()).toBe(200 * limits.retryBudget.default)
    called(50)
    expect(taken()).toBe(10)
  })

  test('drops calls and retries that have left the window', () => {
    const { time, called, taken } = budgetOf()
    called(100)
    expect(taken()).toBe(20)
    time.now += windowMs / 2
    called(100)
    expect(taken()).toBe(20)
    time.now += windowMs / 2
    expect(taken()).toBe(0)
    called(20)
    expect(taken()).toBe(4)
    time.now += 10 * windowMs
    expect(taken()).toBe(minimum)
  })

  test('allows none if it is 0', () => {
    expect(budgetOf({ budget: 0 }).taken()).toBe(0)
  })

  test('says how many attempts one call has', () => {
    expect(budgetOf().budget.attempts).toBe(limits.retryAttempts.default)
    expect(budgetOf({ attempts: 5 }).budget.attempts).toBe(5)
  })

  test.each([
    ['attempts', { attempts: 0 }],
    ['budget', { budget: 2 }],
  ])('refuses %s out of range', (name, options) => {
    expect(() => budgetOf(options)).toThrow(`retry.${name} must be`)
  })
})
