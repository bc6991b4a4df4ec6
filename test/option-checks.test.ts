import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { nodeHandler } from '../src/http/index.ts'
import { connect, listen, Server, serve } from '../src/index.ts'
import { Peer } from '../src/jsonrpc/index.ts'
import { observe } from '../src/observe/index.ts'
import { Router } from '../src/router/index.ts'
import { rateLimit } from '../src/server/middleware/rate-limit.ts'
import { memoryPair } from '../src/transport/memory.ts'
import { Owned } from './support/channel.ts'

// biome-ignore lint/suspicious/noExplicitAny: callers without types pass anything
type Loose = any

const owned = new Owned()
afterEach(() => owned.closeAll())

const info = { name: 'a', version: '1' }
const bogus = { bogus: 1 } as Loose
const make = () => owned.add(new Server(info, { onError: () => {} }))

async function client() {
  const server = make()
  server.tool('t', {}, () => 'ok')
  server.prompt('p', {}, () => 'ok')
  server.resource('r', 'r:///1', {}, () => 'ok')
  return owned.add(await connect(server))
}

async function first(items: AsyncIterable<unknown>): Promise<unknown> {
  for await (const item of items) return item
  return undefined
}

describe('an option that does not exist is refused by', () => {
  test.each<[string, () => unknown]>([
    ['Server', () => new Server(info, bogus)],
    ['Router', () => new Router(bogus)],
    ['a server of a router', () => new Router({ servers: { a: { server: make(), ...bogus } } })],
    ['Peer', () => new Peer(memoryPair()[0], {}, bogus)],
    ['connect', () => connect(make(), bogus)],
    ['listen', () => listen(make(), 'tcp://127.0.0.1:0', bogus)],
    ['serve', () => serve(make(), bogus)],
    ['nodeHandler', () => nodeHandler(make(), bogus)],
    ['observe', () => observe(bogus)],
    ['observe, in logs', () => observe({ logs: bogus })],
    ['observe, in metrics', () => observe({ metrics: bogus })],
    ['rateLimit', () => rateLimit({ methods: {}, ...bogus })],
    ['server.tool', () => make().tool('t', bogus, () => 'x')],
    ['server.prompt', () => make().prompt('p', bogus, () => 'x')],
    ['server.resource', () => make().resource('r', 'r:///1', bogus, () => 'x')],
    ['server.resourceTemplate', () => make().resourceTemplate('r', 'r:///{a}', bogus, () => 'x')],
    ['client.call', async () => (await client()).call('t', {}, bogus)],
    ['client.start', async () => (await client()).start('t', {}, bogus)],
    ['client.read', async () => (await client()).read('r:///1', bogus)],
    ['client.prompt', async () => (await client()).prompt('p', {}, bogus)],
    ['client.request', async () => (await client()).request('tools/list', {}, bogus)],
    ['client.tools', async () => first((await client()).tools(bogus))],
    ['client.changes', async () => (await client()).changes({}, bogus)],
  ])('%s', async (_name, use) => {
    const refused = expect(async () => await use()).rejects
    await refused.toThrow(/unknown option "(?:\w+\.)?bogus"/)
  })
})

describe('a value that means nothing is refused', () => {
  const upstream = (options: object) => () =>
    new Router({ servers: { a: { server: make(), ...options } } as Loose })

  test.each<[string, () => unknown, string]>([
    ['balance', upstream({ balance: 'nope' }), 'option "balance" must be one of'],
    ['connections', upstream({ connections: 'nope' }), 'option "connections" must be one of'],
    ['tools.pin', upstream({ tools: { pin: 'blok' } }), 'did you mean "block"?'],
    ['hash alone', upstream({ hash: 'principal' }), 'hash has no effect unless balance is "hash"'],
    ['balance hash alone', upstream({ balance: 'hash' }), 'balance "hash" requires hash'],
    ['a tool', () => make().tool('t', { inputt: {} } as Loose, () => ''), 'did you mean "input"?'],
    ['task', () => make().tool('t', { task: 'maybe' } as Loose, () => ''), 'option "task" must be'],
    ['a typo', () => make().tool('t', { descripton: '' } as Loose, () => ''), '"description"?'],
    ['schemas', () => make().tool('t', { a: z.string() } as Loose, () => ''), 'z.object({ … })'],
    ['a prompt', () => make().prompt('p', { argz: {} } as Loose, () => ''), 'did you mean "args"?'],
    [
      'a number for a prompt',
      () => make().prompt('p', { args: z.object({ n: z.number() }) as Loose }, () => ''),
      'the argument "n" has the type number, but clients send strings',
    ],
    [
      'a completer of an argument',
      () =>
        make().prompt(
          'p',
          { args: z.object({ a: z.string() }), complete: { b: () => [] } } as Loose,
          () => '',
        ),
      '"complete" names "b", which is not one of its arguments; it has a',
    ],
    [
      'a completer of a variable',
      () =>
        make().resourceTemplate('r', 'r:///{a}', { complete: { b: () => [] } } as Loose, () => ''),
      '"complete" names "b"',
    ],
    ['no rates', () => rateLimit({} as Loose), 'rateLimit needs methods'],
    ['a log level', () => observe({ logs: 'loud' as Loose }), 'option "logs" must be one of'],
  ])('%s', (_name, use, words) => {
    expect(use).toThrow(TypeError)
    expect(use).toThrow(words)
  })

  test('but a prompt argument that converts strings is fine', () => {
    expect(() =>
      make().prompt('p', { args: z.object({ n: z.coerce.number() }) as Loose }, () => ''),
    ).not.toThrow()
  })

  test('a call with a misspelled timeout', async () => {
    const call = (await client()).call('t', {}, { timeout: 5 } as Loose)
    await expect(call).rejects.toThrow('unknown option "timeout"; did you mean "timeoutMs"?')
  })

  test('a question without a form', async () => {
    const server = make()
    const errors: string[] = []
    server.tool('ask', {}, (_input, ctx) =>
      ctx.elicit('sure?' as Loose).catch(error => errors.push(String(error))),
    )
    const asked = owned.add(
      await connect(server, { elicit: () => ({ action: 'accept', content: {} }) }),
    )
    await asked.call('ask')
    expect(errors).toEqual(['TypeError: ctx.elicit takes { message, schema } or { message, url }'])
  })
})
