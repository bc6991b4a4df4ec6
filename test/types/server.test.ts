import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { type Context, connect, type RevisionName, Server, text } from '../../src/index.ts'
import type { CheckedTool, Schema, SchemaHandler, ToolHandler } from '../../src/server/index.ts'
import { allRevisions } from '../support/answering-client.ts'

const server = new Server({ name: 'typed', version: '1.0.0' })

describe('the input of a tool', () => {
  test('is typed by a schema of Zod', () => {
    const input = z.object({ city: z.string(), days: z.number().default(1) })
    server.tool('zod', { input }, ({ city, days }) => {
      expectTypeOf(city).toEqualTypeOf<string>()
      expectTypeOf(days).toEqualTypeOf<number>()
    })
  })

  test('is typed by a schema of Valibot', () => {
    const input = v.object({ city: v.string(), days: v.optional(v.number()) })
    // The package that converts a Valibot schema to JSON Schema is loaded on demand.
    const definition = { input }
    type Handler = ToolHandler<typeof definition>
    expectTypeOf<Parameters<Handler>[0]>().toEqualTypeOf<{ city: string; days?: number }>()
  })

  test('is typed by a schema of ArkType', () => {
    server.tool('arktype', { input: type({ city: 'string' }) }, ({ city }) => {
      expectTypeOf(city).toEqualTypeOf<string>()
    })
  })

  test('is typed by a plain JSON Schema', () => {
    const definition = {
      input: {
        type: 'object',
        properties: { city: { type: 'string' }, days: { type: 'integer' } },
        required: ['city'],
      },
    } as const
    server.tool('json', definition, input => {
      expectTypeOf(input.city).toEqualTypeOf<string>()
      expectTypeOf(input.days).toEqualTypeOf<number | undefined>()
    })
    server.tool(
      'json in place',
      { input: { type: 'object', properties: { a: { type: 'string' } } } },
      input => {
        expectTypeOf(input.a).toEqualTypeOf<string | undefined>()
      },
    )
  })

  test('is empty without a schema', () => {
    server.tool('none', {}, input => {
      expectTypeOf(input).toEqualTypeOf<Readonly<Record<string, never>>>()
    })
  })
})

describe('the output of a tool', () => {
  const output = z.object({ sum: z.number() })

  test('must fit its schema', () => {
    server.tool('right', { output }, () => ({ sum: 1 }))
    server.tool('later', { output }, async () => ({ sum: 1 }))
    // @ts-expect-error a string is not a number
    server.tool('wrong', { output }, () => ({ sum: 'one' }))
    // @ts-expect-error the member is missing
    server.tool('missing', { output }, () => ({}))
    // @ts-expect-error a promise of what does not fit
    server.tool('wrong later', { output }, async () => ({ sum: 'one' }))
  })

  test('may be a complete result', () => {
    server.tool('whole', { output }, () => ({ content: [], structuredContent: { sum: 1 } }))
  })

  test('is unconstrained without a schema', () => {
    const parsed: unknown = JSON.parse('{}')
    const either = (): string | { sum: number } | undefined => undefined
    server.tool('free', {}, () => 'words')
    server.tool('nothing', {}, () => {})
    server.tool('object', {}, async () => ({ sum: 1, list: [text('one')] }))
    server.tool('union', {}, either)
    server.tool('union later', {}, async () => either())
    server.tool('now or later', {}, () => either() ?? Promise.resolve(1))
    server.tool('unknown', {}, () => parsed)
    server.tool('unknown later', {}, async () => parsed)
    server.tool('any', {}, () => JSON.parse('{}'))
    server.tool('any later', {}, async () => JSON.parse('{}'))
    server.tool('always fails', {}, () => {
      throw new Error('no')
    })
    server.tool('with input', { input: z.object({ city: z.string() }) }, ({ city }, ctx) => {
      expectTypeOf(city).toEqualTypeOf<string>()
      expectTypeOf(ctx).toEqualTypeOf<Context>()
      return ctx.signal.aborted ? city : { city }
    })
  })

  test('is not what JSON cannot express', () => {
    class Weather {}
    const maybe = (): string | (() => string) => 'words'
    // @ts-expect-error a function
    server.tool('function', {}, () => () => 'words')
    // @ts-expect-error a method that was not called
    server.tool('method', {}, () => 'words'.trim)
    // @ts-expect-error a promise of a function
    server.tool('function later', {}, async () => () => 'words')
    // @ts-expect-error possibly a function
    server.tool('maybe a function', {}, maybe)
    // @ts-expect-error possibly a function, later
    server.tool('maybe a function later', {}, async () => maybe())
    // @ts-expect-error a class
    server.tool('class itself', {}, () => Weather)
    // @ts-expect-error a symbol
    server.tool('symbol', {}, () => Symbol('words'))
    const input = z.object({ a: z.string() })
    // @ts-expect-error a map
    server.tool('map', {}, () => new Map([['a', 1]]))
    // @ts-expect-error a promise of a set
    server.tool('set later', {}, async () => new Set([1]))
    // @ts-expect-error a bigint
    server.tool('bigint', {}, () => 1n)
    // @ts-expect-error bytes
    server.tool('bytes', {}, () => new Uint8Array(1))
    // @ts-expect-error a generator
    server.tool('generator', {}, async function* () {
      yield 'words'
    })
    // @ts-expect-error a function, in a tool with input
    server.tool('function of input', { input }, ({ a }) => a.trim)
  })

  test('is passed through functions that register tools', () => {
    function register<const I extends Schema = never, const O extends Schema = never>(
      name: string,
      definition: CheckedTool<I, O>,
      code: SchemaHandler<I, O>,
    ): void {
      server.tool(`registered: ${name}`, definition, code)
    }
    register('now', { output }, () => ({ sum: 1 }))
    register('later', { output }, async () => ({ sum: 1 }))
    register('free', {}, () => 'words')
    register('given', { input: z.object({ city: z.string() }) }, ({ city }) => {
      expectTypeOf(city).toEqualTypeOf<string>()
    })
    // @ts-expect-error a string is not a number
    register('wrong', { output }, () => ({ sum: 'one' }))
  })
})

describe('the variables of a template', () => {
  test('are typed by the template', () => {
    server.resourceTemplate('user', 'db://users/{id}/{?fields*}', {}, variables => {
      expectTypeOf(variables).toHaveProperty('id')
      expectTypeOf(variables).toHaveProperty('fields')
      // @ts-expect-error there is no such variable
      variables.name
    })
  })
})

describe('the arguments of a prompt', () => {
  test('are typed by their schema', () => {
    server.prompt('review', { args: z.object({ code: z.string() }) }, ({ code }) => {
      expectTypeOf(code).toEqualTypeOf<string>()
      return code
    })
  })
})

describe('the response to an elicitation', () => {
  test('is typed by its form', () => {
    server.tool('ask', {}, async (_, ctx) => {
      const form = { message: 'Sure?', schema: z.object({ ok: z.boolean() }) }
      expectTypeOf(await ctx.elicit(form)).toEqualTypeOf<{ ok: boolean }>()
      const answer = await ctx.elicit({ ...form, onDecline: 'return' })
      if (answer.action === 'accept') expectTypeOf(answer.content).toEqualTypeOf<{ ok: boolean }>()
    })
  })
})

describe('a client', () => {
  test('has a structured result of the requested type', async () => {
    await using client = await connect(new Server({ name: 'a', version: '1' }))
    const call = () => client.call('add', {}, { output: z.object({ sum: z.number() }) })
    expectTypeOf<Awaited<ReturnType<typeof call>>['structured']>().toEqualTypeOf<{ sum: number }>()
  })
})

describe('the option revisions', () => {
  const info = { name: 'dated', version: '1.0.0' }
  const all = '2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28'

  test('names the five revisions', () => {
    expectTypeOf<RevisionName>().toEqualTypeOf<(typeof allRevisions)[number]>()
    const named = new Server(info, { revisions: allRevisions })
    expect(named.revisions.map(({ name }) => name)).toEqual(allRevisions)
  })

  test('names no other, of a server', () => {
    // @ts-expect-error there is no such revision
    const wrong = () => new Server(info, { revisions: ['2025-11-26'] })
    expect(wrong).toThrow(`unknown revision "2025-11-26"; the revisions are ${all}`)
    const empty = () => new Server(info, { revisions: [] })
    expect(empty).toThrow(`option "revisions" is empty; the revisions are ${all}`)
  })

  test('names no other, of a client', async () => {
    await using named = new Server(info)
    // @ts-expect-error there is no such revision
    const wrong = connect(named, { revisions: ['2025-11-26'] })
    await expect(wrong).rejects.toThrow(`unknown revision "2025-11-26"; the revisions are ${all}`)
    // @ts-expect-error not a date
    const number = connect(named, { revisions: [20251125] })
    await expect(number).rejects.toThrow(`unknown revision "20251125"; the revisions are ${all}`)
    const empty = connect(named, { revisions: [] })
    await expect(empty).rejects.toThrow(`option "revisions" is empty; the revisions are ${all}`)
  })
})
