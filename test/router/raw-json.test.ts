import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Middleware } from '../../src/jsonrpc/handler.ts'
import { endpointDecodeOptions } from '../../src/mcp/endpoint.ts'
import { Router, type UpstreamOptions } from '../../src/router/index.ts'
import { Server } from '../../src/server/index.ts'
import { MemoryTaskStore } from '../../src/server/tasks/memory-store.ts'
import type { TaskRecord } from '../../src/server/tasks/store.ts'
import { streamChannel } from '../../src/transport/stream/stream.ts'
import { routed } from './routed.ts'

/** A server that answers every call with the raw text in its arguments. */
const parrot: UpstreamOptions = {
  command: process.execPath,
  args: [
    '-e',
    `const say = (id, result) => console.log('{"jsonrpc":"2.0","id":' + id + ',"result":' + result + '}')
    require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
      const { id, method, params } = JSON.parse(line)
      if (method === 'initialize') say(id, '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}')
      else if (method === 'tools/list') say(id, '{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}')
      else if (method === 'tools/call') say(id, params.arguments.text)
      else if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: method } }))
    }).on('close', () => process.exit())`,
  ],
  prefix: false,
}

/** A server that answers every call with the raw text of the call. */
const echo: UpstreamOptions = {
  ...parrot,
  args: parrot.args?.map(arg =>
    arg.replace(
      'say(id, params.arguments.text)',
      "say(id, JSON.stringify({ content: [{ type: 'text', text: line }] }))",
    ),
  ),
}

/** The raw reply that a stream client gets to a call with this result. */
function answered(router: Router, result: string, revision?: string): Promise<string> {
  return called(router, JSON.stringify({ name: 't', arguments: { text: result } }), revision)
}

/** The raw reply to a call with these raw params. */
async function called(router: Router, params: string, revision = '2025-11-25'): Promise<string> {
  const input = new PassThrough()
  const output = new PassThrough()
  const attachment = router.attach(
    streamChannel(input, output, { decode: endpointDecodeOptions(router) }),
  )
  onTestFinished(() => attachment.close({ drainMs: 0 }))
  const lines = output.setEncoding('utf8')[Symbol.asyncIterator]()
  const ask = async (id: number, method: string, text: string): Promise<string> => {
    input.write(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${text}}\n`)
    return String((await lines.next()).value)
  }
  const clientInfo = { name: 'c', version: '1' }
  const opening = { protocolVersion: revision, capabilities: {}, clientInfo }
  await ask(1, 'initialize', JSON.stringify(opening))
  input.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  return ask(2, 'tools/call', params)
}

/** The raw request that an upstream server received for a call with these params. */
async function sent(router: Router, params: string): Promise<string> {
  const { result } = JSON.parse(await called(router, params))
  return result.content[0].text
}

let plain: Router

beforeAll(async () => {
  plain = new Router({ servers: { s: parrot } })
  await plain.ready()
})

afterAll(() => plain.close({ drainMs: 0 }))

const precise =
  '{"content":[{"type":"text","text":"a"}],"structuredContent":{"n":12345678901234567890}}'
const rounded = precise.replace('67890}', '67000}')

test('a result that needs no changes is forwarded as raw JSON', async () => {
  const text = await answered(plain, precise)
  expect(text).toBe(`{"jsonrpc":"2.0","id":2,"result":${precise}}\n`)
})

test.each(['of the router', 'of the server'])(
  'a middleware %s gets the whole result',
  async where => {
    const seen: unknown[] = []
    const look: Middleware = next => async (message, exchange) => {
      const result = await next(message, exchange)
      seen.push(result)
      return result
    }
    const isFront = where === 'of the router'
    const router = await routed({ s: { ...parrot, use: isFront ? [] : [look] } })
    if (isFront) router.use(look)
    const text = await answered(router, precise)
    expect(text).toBe(`{"jsonrpc":"2.0","id":2,"result":${rounded}}\n`)
    expect(seen.at(-1)).toEqual(JSON.parse(rounded))
  },
)

test('a caller whose revision lacks a content type gets a substitute', async () => {
  const link = '{"content":[{"type":"resource_link","uri":"a:b","name":"b"}]}'
  const { result } = JSON.parse(await answered(plain, link, '2025-03-26'))
  expect(result.content).toEqual([expect.objectContaining({ type: 'text' })])
})

test.each([
  ['an array in place of an object', '[1]', {}],
  ['another kind of content', '{"content":{"a":1}}', { content: { a: 1 } }],
  ['content twice', '{"content":[1],"content":[2]}', { content: [2] }],
  ['a result type', '{"resultType":"complete","content":[]}', { content: [] }],
  [
    'members that belong to one hop',
    '{"content":[],"_meta":{"io.modelcontextprotocol/serverInfo":{}}}',
    { content: [] },
  ],
])('a result with %s is the same as if it were fully parsed', async (_, result, expected) => {
  expect(JSON.parse(await answered(plain, result)).result).toEqual(expected)
})

describe('the result of a task', () => {
  /** A server that declares calls as tasks, and answers them as plain calls. */
  const tasking: UpstreamOptions = {
    ...parrot,
    args: parrot.args?.map(arg =>
      arg
        .replace('"tools":{}', '"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}')
        .replace('"name":"t",', '"name":"t","execution":{"taskSupport":"required"},'),
    ),
  }

  test.each([
    ['is stored parsed', precise, 'completed', JSON.parse(rounded)],
    [
      'says why it failed',
      '{"content":[{"type":"text","text":"no disk"}],"isError":true}',
      'failed',
      { content: [{ type: 'text', text: 'no disk' }], isError: true },
      'no disk',
    ],
    ['may fail without a message', '{"isError":true}', 'failed', { isError: true }],
    [
      'may fail with an unreadable message',
      '{"content":[null],"isError":true}',
      'failed',
      { isError: true },
    ],
  ])('%s', async (_, text, status, result, message?: string) => {
    const records: TaskRecord[] = []
    const store = new MemoryTaskStore()
    const done = new Promise<void>(resolve => {
      const { put } = store
      store.put = record => {
        records.push(record)
        if (record.status === status) resolve()
        return put.call(store, record)
      }
    })
    const router = await routed({ s: tasking }, { tasks: { store } })
    await called(router, JSON.stringify({ name: 't', arguments: { text }, task: {} }))
    await done
    const last = records.at(-1)
    expect(last?.message).toBe(message)
    // A clone, as a store keeps that copies its records.
    expect(structuredClone(last?.result)).toMatchObject(result)
  })
})

describe('the arguments of a call', () => {
  const params = '{"name":"t","arguments":{"n":12345678901234567890,"o":{"a":[1,{"b": "é"}]}}}'
  const passed = (text: string) =>
    expect.stringMatching(
      new RegExp(
        `^\\{"jsonrpc":"2.0","id":\\d+,"method":"tools/call","params":${quoted(text)}\\}$`,
      ),
    )
  const quoted = (text: string) => text.replace(/[{}[\]().*+?^$|\\]/g, '\\$&')

  test('that need no changes are forwarded as raw JSON', async () => {
    const router = await routed({ s: echo })
    expect(await sent(router, params)).toEqual(passed(params))
  })

  test.each([
    ['_meta', `${params.slice(0, -1)},"_meta":{"a":1,"progressToken":"p"}}`, '{"a":1'],
    ['other members', `${params.slice(0, -1)},"more":[1]}`, '"more":[1]'],
  ])('are forwarded together with %s', async (_, text, expected) => {
    const router = await routed({ s: echo })
    expect(await sent(router, text)).toContain(expected)
    expect(await sent(router, text)).toContain('{"b":')
  })

  test('are parsed for a renamed tool', async () => {
    const router = await routed({ s: { ...echo, tools: { rename: { t: 'u' } } } })
    expect(await sent(router, params.replace('"t"', '"u"'))).toEqual(passed(params))
  })

  test.each(['of the router', 'of the server'])(
    'are available to a middleware %s, which may change them',
    async where => {
      const seen: unknown[] = []
      const change: Middleware = next => (message, exchange) => {
        if (message.method !== 'tools/call') return next(message, exchange)
        seen.push(message.params)
        return next({ ...message, params: { ...message.params, arguments: { n: 2 } } }, exchange)
      }
      const isFront = where === 'of the router'
      const router = await routed({ s: { ...echo, use: isFront ? [] : [change] } })
      if (isFront) router.use(change)
      expect(await sent(router, params)).toEqual(passed('{"name":"t","arguments":{"n":2}}'))
      expect(seen).toEqual([JSON.parse(params)])
    },
  )

  test('choose the instance, where the hash is over one of them', async () => {
    const pids = echo.args?.map(arg => arg.replace('text: line', 'text: String(process.pid)'))
    const router = await routed({
      s: { ...echo, args: pids, instances: 3, balance: 'hash', hash: { argument: 'key' } },
    })
    const at = (key: number) => sent(router, `{"name":"t","arguments":{"key":"k${key}"}}`)
    const keys = Array.from({ length: 12 }, (_, key) => key)
    const first = await Promise.all(keys.map(at))
    expect(await Promise.all(keys.map(at))).toEqual(first)
    expect(new Set(first).size).toBeGreaterThan(1)
  })

  test('are parsed for an in-process server', async () => {
    const server = new Server({ name: 'local', version: '1' })
    const input = { type: 'object', properties: { n: { type: 'number' } } } as const
    server.tool('t', { input }, ({ n }) => String(n))
    const router = await routed({ s: { server, prefix: false } })
    expect(await sent(router, '{"name":"t","arguments":{"n":1.50}}')).toBe('1.5')
  })

  test('that headers repeat are forwarded as they were compared, each of them once', async () => {
    const schema = '{"type":"object","properties":{"n":{"type":"string","x-mcp-header":"N"}}}'
    const args = echo.args?.map(arg => arg.replace('{"type":"object"}', schema))
    const router = await routed({ s: { ...echo, args } })
    const twice = '{"name":"t","arguments":{"n":"secret","o":1,"n":"public"}}'
    const once = '{"name":"t","arguments":{"n":"public","o":1}}'
    expect(await sent(router, twice)).toEqual(passed(once))
  })

  test('that are not an object are left to the server to refuse', async () => {
    const router = await routed({ s: echo })
    const wrong = '{"name":"t","arguments":[1]}'
    expect(await sent(router, wrong)).toEqual(passed(wrong))
  })
})
