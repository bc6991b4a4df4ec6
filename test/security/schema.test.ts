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
import { held, spent } from '../fuzz/cost.ts'
import { exhausting, kinds, oversized } from './schema-attacks.ts'

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
    // Each property counts a little more than four: a name, a schema, which counts twice, and a keyword.
    const names = Array.from({ length: size / 5.2 }, (_, at) => [`k${at}`, { type: 'string' }])
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

describe('a schema of a peer', () => {
  const compilePeer = (schema: JsonSchema) =>
    compileSchema(schema, { what: 'it', side: 'output', isForeign: true })
  const isAccepted = (schema: JsonSchema): boolean => {
    try {
      compilePeer(schema)
      return true
    } catch {
      return false
    }
  }
  /** Returns the largest schema of a kind that is accepted. */
  const largest = (make: (size: number) => JsonSchema): JsonSchema => {
    let [accepted, refused] = [1, 30_000]
    while (refused - accepted > 1 + accepted / 20) {
      const middle = Math.floor((accepted + refused) / 2)
      if (isAccepted(make(middle))) accepted = middle
      else refused = middle
    }
    return make(accepted)
  }
  /** Returns the CPU time until the first value is checked: functions are compiled when they are called. */
  const compileMs = (schema: JsonSchema): number => {
    const rounds = Array.from({ length: 3 }, () =>
      spent(() => void compilePeer(schema).check({ a: 1 })),
    )
    return Math.min(...rounds)
  }

  test('that is too large is refused, where one of this program is not', () => {
    const names = Array.from({ length: 1000 }, (_, at) => [`k${at}`, { type: 'string' }])
    const schema = { properties: Object.fromEntries(names) }
    expect(() => compilePeer(schema)).toThrow('too large: its keywords and names count more than')
    expect(() => compile(schema)).not.toThrow()
    expect(() => compilePeer({ description: 'x'.repeat(300_000) })).toThrow('longer than')
  })

  test.each(Object.entries(kinds))('takes bounded time to compile: %s', async (_, make) => {
    const names = Array.from({ length: 360 }, (_, at) => [`k${at}`, { type: 'string' }])
    const ordinary = { properties: Object.fromEntries(names) }
    await compilePeer(ordinary).prepare()
    // About as many keywords, so about the same time: 40 ms at most on an idle machine.
    expect(compileMs(largest(make))).toBeLessThan(6 * compileMs(ordinary))
  })
})

describe('a pattern', () => {
  test('throws instead of returning a result when its budget is used up', () => {
    const budget = new WorkBudget()
    budget.renew(1000)
    expect(() => compilePattern('a+b').test('a'.repeat(10_000), budget)).toThrow(WorkExceeded)
  })
})
