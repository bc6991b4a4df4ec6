import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Middleware } from '../../src/jsonrpc/handler.ts'
import { Router, type UpstreamOptions } from '../../src/router/index.ts'
import { streamChannel } from '../../src/transport/stream.ts'
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

/** The text of the reply that somebody on a stream gets to a call that the server answers so. */
async function answered(router: Router, result: string, revision = '2025-11-25'): Promise<string> {
  const input = new PassThrough()
  const output = new PassThrough()
  const attachment = router.attach(streamChannel(input, output))
  onTestFinished(() => attachment.close({ drainMs: 0 }))
  const lines = output.setEncoding('utf8')[Symbol.asyncIterator]()
  const ask = async (id: number, method: string, params: object): Promise<string> => {
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return String((await lines.next()).value)
  }
  const clientInfo = { name: 'c', version: '1' }
  await ask(1, 'initialize', { protocolVersion: revision, capabilities: {}, clientInfo })
  input.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  return ask(2, 'tools/call', { name: 't', arguments: { text: result } })
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
