import { expect, test } from 'vitest'
import { createProject, settings } from './project.ts'

const compile = createProject()

const start = `
  import { type } from 'arktype'
  import { type Client, connect, type Content, type Infer, listen, Server, type Tool } from 'trunkline'
  import type { CallToolResult, ElicitFormParams, SampleParams } from 'trunkline/types'
  import * as v from 'valibot'
  import { z } from 'zod'
  type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
  function same<A, B>(_: Same<A, B>): void {}
  const server = new Server({ name: 'right', version: '1.0.0' })
`

/** Programs that compile, in which types are compared. */
const programs: Readonly<Record<string, string>> = {
  'schemas of every library': `
    server.tool('zod', { input: z.object({ a: z.string() }) }, input => same<typeof input, { a: string }>(true))
    server.tool('valibot', { input: v.object({ a: v.string() }) }, ({ a }) => same<typeof a, string>(true))
    server.tool('arktype', { input: type({ a: 'string' }) }, ({ a }) => same<typeof a, string>(true))
    server.tool('output', { output: z.object({ n: z.number().default(5) }) }, () => ({}))
    server.tool('text', { output: z.object({ n: z.number() }), text: ({ n }) => n.toFixed() }, () => ({ n: 1 }))
    server.prompt('prompt', { args: z.object({ a: z.coerce.number() }), complete: { a: () => ['1'] } }, ({ a }) => a.toFixed())`,
  'unions of JSON Schema': `
    type Kind = Infer<{ readonly anyOf: readonly [{ readonly type: 'string' }, { readonly type: 'number' }] }>
    same<Kind, string | number>(true)
    same<Infer<{ readonly type: readonly ['string', 'null'] }>, string | null>(true)
    server.tool('union', { input: {
      type: 'object',
      properties: { a: { type: ['string', 'null'] }, b: { oneOf: [{ const: 1 }, { type: 'boolean' }] } },
      required: ['a', 'b'],
    } }, ({ a, b }) => {
      same<typeof a, string | null>(true)
      same<typeof b, boolean | 1>(true)
    })`,
  'an answer that narrows': `
    server.tool('ask', {}, async (_, ctx) => {
      const schema = z.object({ ok: z.boolean() })
      const answer = await ctx.elicit({ message: 'Sure?', schema, onDecline: 'return' })
      if (answer.action === 'decline') return 'declined'
      if (answer.action === 'cancel') return 'cancelled'
      return String(answer.content.ok)
    })`,
  'a template that is not known': `
    const template: string = 'db://users/{id}'
    server.resourceTemplate('user', template, {}, ({ id }, ctx) => (id ?? '').trim() + ctx.uri)`,
  'an update of a tool': `
    const tool = server.tool('old', { input: z.object({ a: z.string() }) }, ({ a }) => a)
    tool.update({ description: 'other' })
    tool.update({}, ({ a }) => a.trim())
    tool.update({ input: z.object({ b: z.number() }) }, ({ b }) => b.toFixed())`,
  'types of the protocol': `
    const show = (tool: Tool): string => tool.name
    const texts = (result: CallToolResult): Content[] => [...result.content]
    const ask = (form: ElicitFormParams, sample: SampleParams) => [form.message, sample.messages]
    void [show, texts, ask]`,
  'a client that knows its server': `
    interface Tools {
      add: { input: { a: number; b?: number }; output: { sum: number } }
      now: { input: {}; output: unknown }
    }
    interface Prompts { greet: { name: string } }
    const client = await connect<Tools, Prompts>(server)
    same<Awaited<ReturnType<typeof add>>['structured'], { sum: number }>(true)
    async function add() { return await client.call('add', { a: 1 }, { timeoutMs: 5 }) }
    await client.call('now')
    await client.prompt('greet', { name: 'Ada' })
    const any = async (other: Client) => (await other.call('anything', { x: 1 })).text
    await any(client)`,
  'a client that knows nothing of its server': `
    const client = await connect('tcp://127.0.0.1:1', { timeoutMs: 5 })
    const { structured } = await client.call('add', { a: 1 }, { output: z.object({ sum: z.number() }) })
    same<typeof structured, { sum: number }>(true)
    const listed: Tool[] = []
    for await (const tool of client.tools()) listed.push(tool)`,
  'both protocols': `
    const peer = await connect('tcp://127.0.0.1:1', { protocol: 'jsonrpc' })
    await peer.call('sum', [1, 2])
    await listen({ sum: () => 3 }, 'tcp://127.0.0.1:0', { protocol: 'jsonrpc' })
    await listen(server, 'tcp://127.0.0.1:0')`,
}

test.each(settings)('right programs compile with %s %s', async (...options) => {
  const blocks = Object.values(programs).map(program => `{${program}\n}`)
  const output = await compile([start, ...blocks].join('\n'), ...options)
  expect(output.match(/^program\.mts.*$/gm) ?? []).toEqual([])
})
