import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { connect } from '../../../connect.ts'
import { compileSchema } from '../../../mcp/schema/schema.ts'
import type { Schema } from '../../../mcp/schema/standard-schema.ts'
import type { JsonSchema } from '../../../mcp/types/base.ts'
import { Server } from '../../server.ts'

const plain = {
  type: 'object',
  properties: { id: { type: 'number' }, n: { type: 'number', default: 5 } },
  required: ['id'],
} as const

/** What a handler returns, and what leaves the server. */
const rows: readonly (readonly [what: string, output: Schema, returned: unknown, sent: unknown])[] =
  [
    ['Zod strips', z.object({ id: z.number() }), { id: 1, secret: 'x' }, { id: 1 }],
    [
      'Zod strips inside',
      z.object({ a: z.array(z.object({ id: z.number() })) }),
      { a: [{ id: 1, x: 2 }] },
      { a: [{ id: 1 }] },
    ],
    ['Zod fills in', z.object({ n: z.number().default(5) }), {}, { n: 5 }],
    ['Zod keeps', z.looseObject({ id: z.number() }), { id: 1, more: 2 }, { id: 1, more: 2 }],
    [
      'Zod replaces',
      z.object({ n: z.string().overwrite(text => text.toUpperCase()) }),
      { n: 'a' },
      { n: 'A' },
    ],
    [
      'Zod pipes',
      z.object({ n: z.string().transform(Number).pipe(z.number()) }),
      { n: '5' },
      { n: 5 },
    ],
    [
      'Zod waits',
      z.object({ id: z.number().refine(async () => true) }),
      { id: 1, x: 2 },
      { id: 1 },
    ],
    [
      'Valibot strips',
      toStandardJsonSchema(v.object({ id: v.number() })),
      { id: 1, secret: 'x' },
      { id: 1 },
    ],
    [
      'Valibot fills in',
      toStandardJsonSchema(v.object({ n: v.optional(v.number(), 5) })),
      {},
      { n: 5 },
    ],
    ['ArkType deletes', type({ '+': 'delete', id: 'number' }), { id: 1, secret: 'x' }, { id: 1 }],
    ['ArkType fills in', type({ n: 'number = 5' }), {}, { n: 5 }],
    ['ArkType keeps', type({ id: 'number' }), { id: 1, more: 2 }, { id: 1, more: 2 }],
    ['JSON Schema keeps', plain, { id: 1, n: 5, more: 2 }, { id: 1, n: 5, more: 2 }],
  ]

test.each(rows)('%s: what the schema returns is sent', async (_, output, returned, sent) => {
  await using server = new Server({ name: 'a', version: '1' })
  server.tool('row', { output }, () => returned as never)
  server.tool('whole', { output }, () => ({ structuredContent: returned }) as never)
  server.tool('own', { output }, () => ({ content: [], structuredContent: returned }) as never)
  await using client = await connect(server)
  const listed = new Map<string, JsonSchema | undefined>()
  for await (const tool of client.tools()) listed.set(tool.name, tool.outputSchema)
  for (const name of ['row', 'whole', 'own']) {
    const { structured, text } = await client.call(name)
    expect(structured).toEqual(sent)
    expect(text === '' ? sent : JSON.parse(text)).toEqual(sent)
    const published = compileSchema(listed.get(name), { what: 'published', side: 'output' })
    expect(await published.check(structured)).toMatchObject({ ok: true })
  }
})

test('a tool writes the text beside its structured content', async () => {
  await using server = new Server({ name: 'a', version: '1' })
  const output = z.object({ n: z.number().default(5) })
  server.tool('text', { output, text: ({ n }) => `n is ${n}` }, () => ({}))
  const blocks = () => ['one', { type: 'text', text: 'two' } as const]
  server.tool('blocks', { output, text: blocks }, () => ({}))
  server.tool('own', { output, text: () => 'unused' }, () => ({
    content: [{ type: 'text', text: 'own' }],
    structuredContent: {},
  }))
  await using client = await connect(server)
  expect(await client.call('text')).toMatchObject({ text: 'n is 5', structured: { n: 5 } })
  expect(await client.call('blocks')).toMatchObject({ text: 'one\ntwo', structured: { n: 5 } })
  expect(await client.call('own')).toMatchObject({ text: 'own', structured: { n: 5 } })
  // @ts-expect-error there is no output
  const wrong = () => server.tool('wrong', { text: () => '' }, () => '')
  expect(wrong).toThrow('tool "wrong": "text" needs "output"')
})

test('a failure of a tool with an output schema is sent as it is', async () => {
  await using server = new Server({ name: 'a', version: '1' })
  const output = z.object({ n: z.number() })
  server.tool('fails', { output }, () => ({
    content: [{ type: 'text', text: 'no' }],
    isError: true,
  }))
  await using client = await connect(server)
  expect(await client.call('fails')).toMatchObject({ text: 'no', isError: true })
})

test.each([
  ['a Map', () => new Map()],
  ['a Set inside', () => ({ ids: new Set() })],
  ['bytes', () => new Uint8Array(3)],
])('%s is refused, and its author learns which tool returned it', async (_, returned) => {
  const reported: unknown[] = []
  const onError = (error: unknown) => void reported.push(error)
  await using server = new Server({ name: 'a', version: '1' }, { onError })
  server.tool('odd', {}, returned as () => unknown)
  await using client = await connect(server)
  await expect(client.call('odd')).rejects.toThrow('Internal error')
  expect(reported).toMatchObject([
    { message: expect.stringMatching(/^invalid result of tool "odd": /) },
  ])
})
