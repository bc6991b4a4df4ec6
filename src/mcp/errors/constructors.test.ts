import { describe, expect, expectTypeOf, test } from 'vitest'
import { RpcError } from '../../jsonrpc/error.ts'
import {
  errorCategory,
  errorIs,
  errorRange,
  errorSeverity,
  errors,
  isKnownCode,
} from './constructors.ts'
import { categories, errorTable } from './table.ts'

describe('a constructor', () => {
  test('returns an error with the properties of its kind and the given data', () => {
    const error = errors.toolNotFound({ tool: 'x' })
    expect(error).toBeInstanceOf(RpcError)
    expect(error).toMatchObject({
      code: -32002,
      message: 'Tool not found: x',
      kind: 'tool_not_found',
      category: 'tool',
      severity: 'error',
      data: { tool: 'x' },
    })
  })

  test('says in its message what is wrong, also where that is no text', () => {
    expect(errors.invalidParams({ details: 'a is missing' }).message).toBe(
      'Invalid params: a is missing',
    )
    expect(errors.invalidParams({ details: { a: 'missing' } }).message).toBe(
      'Invalid params: {"a":"missing"}',
    )
    expect(errors.invalidParams({ details: 1n }).message).toBe('Invalid params')
    const long = errors.invalidParams({ details: ['x'.repeat(1000)] }).message
    expect(long).toHaveLength('Invalid params: '.length + 200)
  })

  test('exists for every kind, under its name in camel case', () => {
    expect(Object.keys(errors)).toHaveLength(errorTable.size)
    const made = Object.values(errors).map(make => (make as () => RpcError)())
    expect(made.map(error => error.kind)).toEqual([...errorTable.keys()])
    expect(errors.experimentalTaskDependencyFailed({ taskId: 't' }).code).toBe(1096)
  })

  test('omits data if there is none', () => {
    expect(errors.notInitialized().data).toBeUndefined()
  })

  test('accepts further data, another message and a cause', () => {
    const cause = new Error('disk')
    const error = errors.messageTooLarge(
      { maxSize: 10, unit: 'bytes', actualSize: 11 },
      { message: 'Too much', cause },
    )
    expect(error.data).toEqual({ maxSize: 10, unit: 'bytes', actualSize: 11 })
    expect(error.message).toBe('Too much')
    expect(error.cause).toBe(cause)
  })

  test('requires the data of its kind, with the right types', () => {
    expectTypeOf(errors.toolNotFound).parameter(0).toHaveProperty('tool').toEqualTypeOf<string>()
    expectTypeOf(errors.messageTooLarge).parameter(0).toHaveProperty('maxSize').toBeNumber()
    // @ts-expect-error the tool has to be named
    errors.toolNotFound({})
    // @ts-expect-error data are required where a kind has some
    errors.toolNotFound()
    // @ts-expect-error sizes are numbers
    errors.messageTooLarge({ maxSize: '10', unit: 'bytes' })
    // @ts-expect-error there is no such kind
    expect(errors.teapot).toBeUndefined()
  })
})

describe('a code', () => {
  test.each([
    { code: -32001, category: 'resource', severity: 'error', range: 'core' },
    { code: -32002, category: 'tool', severity: 'error', range: 'core' },
    { code: -32003, category: 'prompt', severity: 'error', range: 'core' },
    { code: -32700, category: 'jsonrpc', severity: 'critical', range: 'jsonrpc' },
    { code: -32602, category: 'jsonrpc', severity: 'error', range: 'jsonrpc' },
    { code: -32000, category: 'core', severity: 'error', range: 'core' },
    { code: -32010, category: 'core', severity: 'error', range: 'core' },
    { code: -32012, category: 'content', severity: 'error', range: 'content' },
    { code: -32042, category: 'prompt', severity: 'error', range: 'prompt' },
    { code: -32080, category: 'pagination', severity: 'error', range: 'pagination' },
    { code: -32081, category: 'task', severity: 'warning', range: 'task' },
    { code: -32099, category: 'progress', severity: 'warning', range: 'progress' },
    { code: -32101, category: 'prompt', severity: 'error', range: 'unknown' },
    { code: -32113, category: 'completion', severity: 'warning', range: 'completion' },
    { code: 1090, category: 'elicitation', severity: 'warning', range: 'experimental' },
    { code: 1095, category: 'task', severity: 'warning', range: 'experimental' },
  ])('$code is $category, $severity, in the range $range', row => {
    expect(errorCategory(row.code)).toBe(row.category)
    expect(errorSeverity(row.code)).toBe(row.severity)
    expect(errorRange(row.code)).toBe(row.range)
    expect(isKnownCode(row.code)).toBe(true)
  })

  test.each([
    { code: -32041, range: 'prompt' },
    { code: -32100, range: 'progress' },
    { code: -32105, range: 'unknown' },
    { code: -1, range: 'unknown' },
    { code: Number.NaN, range: 'unknown' },
  ])('$code has no kind and lies in the range $range', ({ code, range }) => {
    expect(errorCategory(code)).toBe('unknown')
    expect(errorSeverity(code)).toBe('info')
    expect(errorRange(code)).toBe(range)
    expect(isKnownCode(code)).toBe(false)
  })

  test('is true only for its own category', () => {
    expect(errorIs.resource(-32001)).toBe(true)
    for (const { code, category } of errorTable.values()) {
      expect(categories.filter(name => errorIs[name](code))).toEqual([category])
    }
    expect(categories.some(name => errorIs[name](-1))).toBe(false)
  })
})
