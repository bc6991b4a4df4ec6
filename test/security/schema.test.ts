/**
 * Attacks on the checking of values against JSON Schemas, and on compiling schemas. Either side may be
 * hostile: a server that lists a schema, or a client that sends arguments. Files in this folder hold
 * one kind of attack each; they judge by results and counts, never by elapsed time.
 */
import { describe, expect, test } from 'vitest'
import { compilePattern } from '../../src/mcp/regex/pattern.ts'
import { WorkBudget, WorkExceeded } from '../../src/mcp/regex/work-budget.ts'
import { issueText } from '../../src/mcp/schema/issues.ts'
import { compileSchema } from '../../src/mcp/schema/schema.ts'
import type { JsonSchema } from '../../src/mcp/types/base.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { held } from '../fuzz/cost.ts'
import { exhausting, oversized } from './schema-attacks.ts'

const compile = (schema: JsonSchema) => compileSchema(schema, { what: 'it', side: 'output' })
const outcome = async (schema: JsonSchema, value: unknown) => {
  const checked = await compile(schema).check(value)
  return checked.ok ? 'ok' : issueText(checked.issues)
}

describe('a value', () => {
  test.each(Object.entries(exhausting))('is rejected for %s', async (_, { schema, value }) => {
    // Neither valid nor merely wrong: nobody has looked at all of it.
    expect(await outcome(schema, value)).toMatch(
      /^cannot be checked: (?:takes too many steps|Maximum call stack)/,
    )
  })

  test('has its budget to itself', async () => {
    const { schema, value } = exhausting['doubling references onto items'] ?? {}
    const checker = compile(schema ?? {})
    expect(await checker.check(value)).toMatchObject({ ok: false })
    expect(await checker.check([1, 2])).toMatchObject({ ok: true })
    expect(await checker.check(value)).toMatchObject({ ok: false })
  })

  test('that fails many alternatives leaves few errors behind', async () => {
    const checker = compile({
      items: { anyOf: Array.from({ length: 100 }, (_, at) => ({ const: at })) },
    })
    const values = Array.from({ length: 100 }, () => -1)
    await checker.prepare()
    const used = held(1, () => {
      expect(checker.check(values)).toMatchObject({ ok: false })
    })
    expect(used).toBeLessThan(1_000_000)
  })

  test.each<readonly [string, JsonSchema, () => unknown]>([
    [
      'a table of a million cells',
      {
        type: 'object',
        properties: {
          rows: {
            type: 'array',
            items: {
              type: 'object',
              properties: Object.fromEntries(
                Array.from({ length: 10 }, (_, at) => [`c${at}`, { type: ['string', 'null'] }]),
              ),
              required: ['c0'],
              additionalProperties: false,
            },
          },
        },
      },
      () => ({
        rows: Array.from({ length: 100_000 }, () =>
          Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`c${at}`, 'ten letters'])),
        ),
      }),
    ],
    [
      'a table of a hundred thousand dates, names and nullable cells',
      {
        items: {
          properties: {
            day: { format: 'date' },
            name: { pattern: '^[A-Z][a-z]+( [A-Z][a-z]+)*$', maxLength: 100 },
            code: { pattern: '\\d+$' },
            note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
            kind: { enum: Array.from({ length: 250 }, (_, at) => `kind ${at}`) },
          },
          required: ['day', 'name', 'code', 'note', 'kind'],
        },
      },
      () =>
        Array.from({ length: 20_000 }, (_, at) => ({
          day: '2024-02-29',
          name: 'Ada Lovelace',
          code: `item ${at}`,
          note: null,
          kind: `kind ${at % 250}`,
        })),
    ],
    [
      'ten megabytes of text',
      { type: 'string', minLength: 1, maxLength: 20_000_000 },
      () => 'x'.repeat(10_000_000),
    ],
    [
      'ten megabytes of base64',
      { pattern: '^[A-Za-z0-9+/]*={0,2}$' },
      () => 'abcd'.repeat(2_500_000),
    ],
    [
      'a hundred thousand different items',
      { uniqueItems: true },
      () => Array.from({ length: 100_000 }, (_, at) => ({ at })),
    ],
    [
      'fifty thousand members',
      { additionalProperties: { type: 'number' } },
      () => Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, at])),
    ],
  ])('of normal use passes: %s', async (_, schema, value) => {
    expect(await outcome(schema, value())).toBe('ok')
  })
})

describe('a schema', () => {
  test.each(Object.entries(oversized))('is rejected for %s', async (_, schema) => {
    await expect((async () => compile(schema).prepare())()).rejects.toThrow(
      /repeats too much|more than|longer than/,
    )
  })

  test('may use the whole of its limits', async () => {
    const { default: size } = limits.schemaSize
    const names = Array.from({ length: size / 4 }, (_, at) => [`k${at}`, { type: 'string' }])
    const schema = { properties: Object.fromEntries(names) }
    expect(await outcome(schema, { k7: 1 })).toBe('k7: expected string')
  })

  test('that repeats one pattern pays for it once', async () => {
    const pattern = `^(?:${'[a-z]x?'.repeat(400)})*$`
    const names = Array.from({ length: 100 }, (_, at) => [`k${at}`, { pattern }])
    expect(await outcome({ properties: Object.fromEntries(names) }, { k7: '1' })).toMatch(
      /^k7: must match/,
    )
  })

  test('compiled before is not kept when it is not needed any more', async () => {
    await compile({}).prepare()
    let count = 0
    const used = held(3, () => {
      for (let index = 0; index < 300; index++) {
        const schema = { properties: { [`p${count++}`]: { enum: ['x'.repeat(10_000), {}] } } }
        expect(compile(schema).check({})).toMatchObject({ ok: true })
      }
    })
    // A few of them may be: the engine forgets them together.
    expect(used).toBeLessThan(30_000_000)
  })
})

describe('a pattern', () => {
  test('throws instead of returning a result when its budget is used up', () => {
    const budget = new WorkBudget()
    budget.renew(1000)
    expect(() => compilePattern('a+b').test('a'.repeat(10_000), budget)).toThrow(WorkExceeded)
  })
})
