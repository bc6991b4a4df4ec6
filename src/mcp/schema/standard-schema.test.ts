import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import { type Infer, type InferInput, isStandardSchema, type Schema } from './standard-schema.ts'

/** As a registration takes it. */
declare function handle<const S extends Schema>(
  schema: S,
  handler: (args: Infer<S>) => unknown,
): void

describe('the type of what a schema lets through', () => {
  const zod = z.object({
    city: z.string(),
    days: z.number().default(3),
    unit: z.enum(['c', 'f']).optional(),
  })
  const valibot = v.object({ city: v.string(), days: v.optional(v.number(), 3) })
  const arktype = type({ city: 'string', days: 'number = 3', 'unit?': "'c' | 'f'" })

  test('is the type of the library', () => {
    expectTypeOf<Infer<typeof zod>>().toEqualTypeOf<{
      city: string
      days: number
      unit?: 'c' | 'f' | undefined
    }>()
    expectTypeOf<InferInput<typeof zod>>().toEqualTypeOf<{
      city: string
      days?: number | undefined
      unit?: 'c' | 'f' | undefined
    }>()
    expectTypeOf<Infer<typeof valibot>>().toEqualTypeOf<{ city: string; days: number }>()
    expectTypeOf<InferInput<typeof valibot>>().toEqualTypeOf<{
      city: string
      days?: number | undefined
    }>()
    expectTypeOf<Infer<typeof arktype>>().toEqualTypeOf<{
      city: string
      days: number
      unit?: 'c' | 'f'
    }>()
    expectTypeOf<Infer<z.ZodType<Date>>>().toEqualTypeOf<Date>()
    expectTypeOf<
      Infer<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>
    >().toEqualTypeOf<number>()
  })

  test('is the type of a plain JSON Schema, if the compiler can infer it', () => {
    const schema = {
      type: 'object',
      properties: {
        city: { type: 'string' },
        days: { type: 'integer' },
        unit: { enum: ['c', 'f'] },
        kind: { const: 'x' },
        tags: { type: 'array', items: { type: 'string' } },
        list: { type: 'array' },
        nothing: { type: 'null' },
        place: { type: 'object', properties: { lat: { type: 'number' } }, required: ['lat'] },
        map: { type: 'object' },
        either: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'integer' } }] },
        one: { oneOf: [{ const: 'a' }, { type: 'object', properties: { b: { type: 'null' } } }] },
        nullable: { type: ['string', 'null'] },
        other: { allOf: [{ type: 'string' }] },
        is: { type: 'boolean' },
      },
      required: ['city', 'unit', 'place'],
    } as const
    type Args = Infer<typeof schema>
    expectTypeOf<Args['city']>().toEqualTypeOf<string>()
    expectTypeOf<Args['days']>().toEqualTypeOf<number | undefined>()
    expectTypeOf<Args['unit']>().toEqualTypeOf<'c' | 'f'>()
    expectTypeOf<Args['kind']>().toEqualTypeOf<'x' | undefined>()
    expectTypeOf<Args['tags']>().toEqualTypeOf<string[] | undefined>()
    expectTypeOf<Args['list']>().toEqualTypeOf<unknown[] | undefined>()
    expectTypeOf<Args['nothing']>().toEqualTypeOf<null | undefined>()
    expectTypeOf<Args['place']['lat']>().toEqualTypeOf<number>()
    expectTypeOf<Args['map']>().toEqualTypeOf<Record<string, unknown> | undefined>()
    expectTypeOf<Args['either']>().toEqualTypeOf<string | number[] | undefined>()
    expectTypeOf<Args['one']>().toEqualTypeOf<'a' | { b?: null } | undefined>()
    expectTypeOf<Args['nullable']>().toEqualTypeOf<string | null | undefined>()
    expectTypeOf<Args['other']>().toEqualTypeOf<unknown>()
    expectTypeOf<Args['is']>().toEqualTypeOf<boolean | undefined>()
    expectTypeOf<InferInput<typeof schema>>().toEqualTypeOf<Args>()
  })

  test('is an object of anything where the compiler cannot', () => {
    const widened = { type: 'object', properties: { city: { type: 'string' } } }
    expectTypeOf<Infer<typeof widened>>().toEqualTypeOf<Record<string, unknown>>()
    expectTypeOf<Infer<{ readonly [keyword: string]: unknown }>>().toEqualTypeOf<
      Record<string, unknown>
    >()
    expectTypeOf<Infer<{ readonly type: 'object' }>>().toEqualTypeOf<Record<string, unknown>>()
    expectTypeOf<Infer<{ readonly type: 'array' }>>().toEqualTypeOf<unknown[]>()
  })

  test('reaches a handler from a schema written in place', () => {
    const _types = () => {
      handle(
        { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        args => {
          expectTypeOf(args.city).toEqualTypeOf<string>()
        },
      )
      handle(zod, args => expectTypeOf(args.days).toEqualTypeOf<number>())
      handle(valibot, args => expectTypeOf(args.days).toEqualTypeOf<number>())
      handle(arktype, args => expectTypeOf(args.days).toEqualTypeOf<number>())
      // @ts-expect-error a text is no schema
      handle('string', () => {})
    }
    expect(_types).toBeTypeOf('function')
  })

  test('a schema of a library is distinguished from other values', () => {
    for (const schema of [zod, valibot, arktype]) expect(isStandardSchema(schema)).toBe(true)
    for (const other of [undefined, null, 5, 'x', {}, () => {}, { '~standard': 1 }]) {
      expect(isStandardSchema(other)).toBe(false)
    }
    expect(isStandardSchema({ '~standard': { version: 2, validate: () => {} } })).toBe(false)
    expect(isStandardSchema({ '~standard': { version: 1 } })).toBe(false)
  })
})
