import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { connect, Server } from '../../src/index.ts'

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
    type Handler = Parameters<typeof server.tool<typeof definition>>[2]
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
    server.tool('free', {}, () => 'words')
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
