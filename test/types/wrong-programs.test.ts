import { describe, expect, test } from 'vitest'
import { Server } from '../../src/index.ts'
import { createProject, settings } from './project.ts'

const compile = createProject()

const start = `
  import { connect, errors, listen, Server } from 'trunkline'
  import { z } from 'zod'
  const info = { name: 'wrong', version: '1.0.0' }
  const server = new Server(info)
  const input = z.object({ a: z.string() })
  const output = z.object({ n: z.number() })
  const form = { message: 'Sure?', schema: z.object({ ok: z.boolean() }) }
  const tool = server.tool('tool', { input }, ({ a }) => a)
  const client = await connect(server)
  interface Tools { add: { input: { a: number }; output: { sum: number } } }
  const typed = await connect<Tools>(server)
`

/** Programs that the compiler refuses, each in one line, by what is wrong. */
const refused: Readonly<Record<string, string>> = {
  'an argument that the input has not': `server.tool('a', { input }, ({ b }) => b)`,
  'an argument used as another type': `server.tool('a', { input }, ({ a }) => a.toFixed())`,
  'an argument without an input': `server.tool('a', {}, ({ a }) => a.trim())`,
  'an input that is no object': `server.tool('a', { input: z.string() }, () => 'x')`,
  'an input of loose members': `server.tool('a', { input: { a: z.string() } }, () => 'x')`,
  'a type that JSON Schema has not': `server.tool('a', { input: { type: 'object', properties: { a: { type: 'sting' } } } }, () => 'x')`,
  'an unknown type in an output': `server.tool('a', { output: { type: 'objekt' } }, () => ({}))`,
  'an output of another type': `server.tool('a', { output }, () => ({ n: 'x' }))`,
  'an output without a member': `server.tool('a', { output }, async () => ({}))`,
  'no output': `server.tool('a', { output }, () => {})`,
  'a whole result against the output': `server.tool('a', { output }, () => ({ content: [], structuredContent: { n: 'x' } }))`,
  'a text without an output': `server.tool('a', { text: () => 'x' }, () => 'x')`,
  'a text of another value': `server.tool('a', { output, text: ({ m }) => m }, () => ({ n: 1 }))`,
  'a map': `server.tool('a', {}, () => new Map())`,
  'a promise of a set': `server.tool('a', {}, async () => new Set())`,
  'a bigint': `server.tool('a', {}, () => 1n)`,
  'a function': `server.tool('a', {}, () => () => 'x')`,
  'a symbol': `server.tool('a', {}, () => Symbol('x'))`,
  bytes: `server.tool('a', {}, () => new Uint8Array(1))`,
  'an async generator': `server.tool('a', {}, async function* () { yield 'x' })`,
  'an unknown member of a definition': `server.tool('a', { descripton: 'x' }, () => 'x')`,
  'an annotation of another type': `server.tool('a', { annotations: { readOnlyHint: 'yes' } }, () => 'x')`,
  'an unknown way to run tasks': `server.tool('a', { task: 'always' }, () => 'x')`,
  'an unknown variable of a template': `server.resourceTemplate('a', 'a://{id}', {}, ({ name }) => name)`,
  'a completer for an unknown variable': `server.resourceTemplate('a', 'a://{id}', { complete: { name: () => [] } }, ({ id }) => id)`,
  'a completer for an unknown argument': `server.prompt('a', { args: input, complete: { b: () => [] } }, ({ a }) => a)`,
  'an argument of a prompt that is a number': `server.prompt('a', { args: z.object({ a: z.number() }) }, () => 'x')`,
  'a prompt that returns a number': `server.prompt('a', {}, () => 5)`,
  'an update of an unknown member': `tool.update({ descripton: 'x' })`,
  'an update of the input without a handler': `tool.update({ input: z.object({ b: z.string() }) })`,
  'a revision that does not exist': `new Server(info, { revisions: ['2025-11-26'] })`,
  'an unknown option of listen': `await listen(server, 'tcp://127.0.0.1:0', { timeoutMS: 5 })`,
  'a form without a message': `server.tool('a', {}, async (_, ctx) => { await ctx.elicit({ schema: form.schema }) })`,
  'an answer that may be declined': `server.tool('a', {}, async (_, ctx) => (await ctx.elicit({ ...form, onDecline: 'return' })).content.ok)`,
  'an error without its data': `throw errors.toolNotFound({})`,
  'a call of an unknown tool': `await typed.call('subtract', { a: 1 })`,
  'a call with other arguments': `await typed.call('add', { a: 'x' })`,
}

/** Programs that compile, and that throw while they register something. */
const thrown: Readonly<
  Record<string, readonly [register: (server: Server) => void, words: string]>
> = {
  'a name that is taken': [
    server => {
      server.tool('a', {}, () => 'x')
      server.tool('a', {}, () => 'x')
    },
    'duplicate tool "a"',
  ],
  'a schema whose type the compiler does not know': [
    server => {
      const schema: Record<string, unknown> = { type: 'objekt' }
      server.tool('a', { input: schema }, () => 'x')
    },
    '#/type is not a JSON type',
  ],
  'a template with an open brace': [
    server => void server.resourceTemplate('a', 'a://{id', {}, () => 'x'),
    'a://{id',
  ],
}

describe.each(settings)('with %s %s', (...options) => {
  test('the compiler refuses wrong programs', async () => {
    const lines = Object.values(refused)
    const output = await compile([start, ...lines].join('\n'), ...options)
    const faults = Array.from(output.matchAll(/^program\.mts\((\d+),/gm), ([, at]) => Number(at))
    const first = start.split('\n').length + 1
    expect(faults.filter(at => at < first)).toEqual([])
    const found = new Set(faults)
    expect(Object.keys(refused).filter((_, at) => !found.has(first + at))).toEqual([])
    expect(lines.length + Object.keys(thrown).length).toBe(40)
  })
})

test.each(Object.entries(thrown))('%s is refused at registration', (_, [register, words]) => {
  const server = new Server({ name: 'wrong', version: '1.0.0' })
  expect(() => register(server)).toThrow(words)
})
