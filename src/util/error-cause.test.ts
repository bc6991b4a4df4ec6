import { describe, expect, test } from 'vitest'
import { causeLabel, isShortage, rootCause } from './error-cause.ts'

function systemError(code: string, syscall?: string): Error {
  return Object.assign(new Error(code), { code, syscall })
}

function statusError(status: number, headers: Record<string, string> = {}): Error {
  return Object.assign(new Error('x'), { status, headers: new Headers(headers) })
}

describe('the root of a failure', () => {
  test.each<[string, unknown, string | undefined]>([
    ['a system error', systemError('ECONNREFUSED', 'connect'), 'ECONNREFUSED'],
    ['a wrapped one', new Error('x', { cause: systemError('ENOTFOUND') }), 'ENOTFOUND'],
    ['one of several', new AggregateError([systemError('EHOSTUNREACH')]), 'EHOSTUNREACH'],
    ['a status', new Error('x', { cause: statusError(503) }), 'HTTP 503'],
    ['an error with a code of its own', systemError('closed'), undefined],
    ['an error without a cause', new Error('x'), undefined],
    ['something that is no error', 'x', undefined],
  ])('%s is named', (_, error, label) => {
    expect(causeLabel(error)).toBe(label)
  })

  test('a chain that refers to itself ends', () => {
    const error = new Error('x')
    error.cause = error
    expect(rootCause(error)).toEqual({})
  })

  test('a status comes with Retry-After', () => {
    expect(rootCause(statusError(429, { 'Retry-After': '2' }))).toEqual({
      status: 429,
      retryAfter: '2',
    })
  })
})

test.each<[string, string, boolean]>([
  ['EMFILE', 'spawn node', true],
  ['ENFILE', 'connect', true],
  ['EAGAIN', 'spawn', true],
  ['ENOMEM', 'spawn', true],
  ['EMFILE', 'read', false],
  ['ENOENT', 'spawn node', false],
  ['ECONNREFUSED', 'connect', false],
])('%s of %s: a shortage of this machine is %s', (code, syscall, expected) => {
  expect(isShortage(new Error('x', { cause: systemError(code, syscall) }))).toBe(expected)
})
