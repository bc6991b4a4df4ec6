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

/** A server that answers every call with the text that it is given, which it does not look at. */
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

/** One that answers every call with the text of the call, as it came. */
const echo: UpstreamOptions = {
  ...parrot,
  args: parrot.args?.map(arg =>
    arg.replace(
      'say(id, params.arguments.text)',
      "say(id, JSON.stringify({ content: [{ type: 'text', text: line }] }))",
    ),
  ),
}

/** The text of the reply that somebody on a stream gets to a call that the server answers so. */
function answered(router: Router, result: string, revision?: string): Promise<string> {
  return called(router, JSON.stringify({ name: 't', arguments: { text: result } }), revision)
}

/** The same with other params, as text. */
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

/** What a server behind a router was sent, to a call with these params. */
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

test('a result that nobody looks at comes as its server has written it', async () => {
  const text = await answered(plain, precise)
  expect(text).toBe(`{"jsonrpc":"2.0","id":2,"result":${precise}}\n`)
})

test.each(['of the router', 'on the way to the server'])(
  'a middleware %s is given all of it',
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

test('a caller whose revision has no word for something gets it in words that it knows', async () => {
  const link = '{"content":[{"type":"resource_link","uri":"a:b","name":"b"}]}'
  const { result } = JSON.parse(await answered(plain, link, '2025-03-26'))
  expect(result.content).toEqual([expect.objectContaining({ type: 'text' })])
})

test.each([
  ['no object', '[1]', {}],
  ['another kind of content', '{"content":{"a":1}}', { content: { a: 1 } }],
  ['content twice', '{"content":[1],"content":[2]}', { content: [2] }],
  ['a type of its own', '{"resultType":"complete","content":[]}', { content: [] }],
  [
    'what is of one hop',
    '{"content":[],"_meta":{"io.modelcontextprotocol/serverInfo":{}}}',
    { content: [] },
  ],
])('a result with %s is no other than it would be read whole', async (_, result, expected) => {
  expect(JSON.parse(await answered(plain, result)).result).toEqual(expected)
})

describe('the result of a task', () => {
  /** One that takes calls as tasks, by what it says, and answers them as if it did not. */
  const tasking: UpstreamOptions = {
    ...parrot,
    args: parrot.args?.map(arg =>
      arg
        .replace('"tools":{}', '"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}')
        .replace('"name":"t",', '"name":"t","execution":{"taskSupport":"required"},'),
    ),
  }

  test.each([
    ['is kept as what it is', precise, 'completed', JSON.parse(rounded)],
    [
      'tells why it failed',
      '{"content":[{"type":"text","text":"no disk"}],"isError":true}',
      'failed',
      { content: [{ type: 'text', text: 'no disk' }], isError: true },
      'no disk',
    ],
    ['needs no words for that', '{"isError":true}', 'failed', { isError: true }],
    ['nor any that can be read', '{"content":[null],"isError":true}', 'failed', { isError: true }],
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
    // As a store may keep it that copies what it is given.
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

  test('that nobody looks at reach the server as the caller has written them', async () => {
    const router = await routed({ s: echo })
    expect(await sent(router, params)).toEqual(passed(params))
  })

  test.each([
    ['_meta', `${params.slice(0, -1)},"_meta":{"a":1,"progressToken":"p"}}`, '{"a":1'],
    ['other members', `${params.slice(0, -1)},"more":[1]}`, '"more":[1]'],
  ])('go on beside %s', async (_, text, expected) => {
    const router = await routed({ s: echo })
    expect(await sent(router, text)).toContain(expected)
    expect(await sent(router, text)).toContain('{"b":')
  })

  test('are read for a tool of another name', async () => {
    const router = await routed({ s: { ...echo, tools: { rename: { t: 'u' } } } })
    expect(await sent(router, params.replace('"t"', '"u"'))).toEqual(passed(params))
  })

  test.each(['of the router', 'on the way to the server'])(
    'are there for a middleware %s, which may change them',
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

  test('choose the instance, where that is by one of them', async () => {
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

  test('are read for a server of this process', async () => {
    const server = new Server({ name: 'local', version: '1' })
    const input = { type: 'object', properties: { n: { type: 'number' } } } as const
    server.tool('t', { input }, ({ n }) => String(n))
    const router = await routed({ s: { server, prefix: false } })
    expect(await sent(router, '{"name":"t","arguments":{"n":1.50}}')).toBe('1.5')
  })

  test('that headers repeat go on as they were compared, each of them once', async () => {
    const schema = '{"type":"object","properties":{"n":{"type":"string","x-mcp-header":"N"}}}'
    const args = echo.args?.map(arg => arg.replace('{"type":"object"}', schema))
    const router = await routed({ s: { ...echo, args } })
    const twice = '{"name":"t","arguments":{"n":"secret","o":1,"n":"public"}}'
    const once = '{"name":"t","arguments":{"n":"public","o":1}}'
    expect(await sent(router, twice)).toEqual(passed(once))
  })

  test('that are no object are for the server to refuse', async () => {
    const router = await routed({ s: echo })
    const wrong = '{"name":"t","arguments":[1]}'
    expect(await sent(router, wrong)).toEqual(passed(wrong))
  })
})
