import { expect, onTestFinished, test } from 'vitest'
import { RpcError } from '../../jsonrpc/error.ts'
import type { Caller } from '../../mcp/caller.ts'
import { events, type Undelivered } from '../../observe/events.ts'
import { limits } from '../../util/limits/limits.ts'
import { DeadLetters, type UndeliveredCall } from './dead-letters.ts'

// The check: that is all of a caller that is looked at.
const caller = { principal: { id: 'ann' } } as unknown as Caller

function callOf(name: string): UndeliveredCall {
  return { method: 'tools/call', name, caller, params: { arguments: { password: 'x' } } }
}

function error(data?: object): RpcError {
  return new RpcError(-32000, 'not available', { data })
}

test('the newest are kept, in order', () => {
  const letters = new DeadLetters({ max: 3 })
  for (const name of ['a', 'b', 'c', 'd', 'e']) letters.add('s', callOf(name), error())
  expect(letters.list().map(({ name }) => name)).toEqual(['c', 'd', 'e'])
  expect(letters.count).toBe(5)
})

test('the default is bounded', () => {
  const letters = new DeadLetters()
  for (let count = 0; count < limits.deadLetters.default + 10; count++) {
    letters.add('s', callOf(`${count}`), error())
  }
  expect(letters.list()).toHaveLength(limits.deadLetters.default)
  expect(letters.list()[0]?.name).toBe('10')
})

test('one has the caller, the call and the reason, without the params', () => {
  const letters = new DeadLetters()
  const published: Undelivered[] = []
  onTestFinished(events.undelivered.subscribe(event => published.push(event)))
  const cause = Object.assign(new Error('x'), { code: 'ECONNREFUSED' })
  const failure = new RpcError(-32000, 'gone', { data: { retryAfterMs: 7 }, cause })
  letters.add('s', callOf('a'), failure)
  const expected = {
    server: 's',
    method: 'tools/call',
    name: 'a',
    principal: 'ann',
    code: -32000,
    message: 'gone',
    outcome: 'not-executed',
    reason: 'ECONNREFUSED',
    retryAfterMs: 7,
  }
  expect(letters.list()).toMatchObject([expected])
  expect(letters.list()[0]).not.toHaveProperty('params')
  expect(published).toMatchObject([expected])
})

test('params are kept where that is asked for', () => {
  const letters = new DeadLetters({ params: true })
  letters.add('s', callOf('a'), error({ outcome: 'unknown' }))
  expect(letters.list()).toMatchObject([
    { outcome: 'unknown', params: { arguments: { password: 'x' } } },
  ])
})

test('none is kept with 0, and all are counted', () => {
  const letters = new DeadLetters({ max: 0 })
  letters.add('s', callOf('a'), error())
  expect([letters.count, letters.list()]).toEqual([1, []])
})

test('a maximum out of range is refused', () => {
  expect(() => new DeadLetters({ max: -1 })).toThrow('deadLetters.max')
})
