import { describe, expect, test } from 'vitest'
import { RpcError } from '../../src/jsonrpc/error.ts'
import { Server } from '../../src/server/server.ts'
import type { Headers } from './raw.ts'
import { inSession, stateless } from './requests.ts'
import { type Served, serve } from './served.ts'

/** Serves a tool that a middleware always rejects. */
async function guarded(): Promise<{ on: Served; seen: string[]; ran: string[] }> {
  const seen: string[] = []
  const ran: string[] = []
  const server = new Server({ name: 'guarded', version: '1' }, { onError: () => {} })
  const input = { type: 'object', properties: { word: { type: 'string' } } } as const
  for (const name of ['safe', 'danger']) {
    server.tool(name, { input }, given => {
      ran.push(`${name} ${JSON.stringify(given)}`)
      return name
    })
  }
  server.use(next => (message, exchange) => {
    if (message.method === 'tools/call') {
      const { name, arguments: given } = message.params as { name: unknown; arguments: unknown }
      seen.push(`${name} ${JSON.stringify(given ?? {})}`)
      if (name === 'danger') throw new RpcError(-32000, 'not allowed')
    }
    return next(message, exchange)
  })
  return { on: await serve({}, server), seen, ran }
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"${stateless}","io.modelcontextprotocol/clientCapabilities":{}}`

interface Row {
  readonly name: string
  /** Builds the message from the request metadata of its era. */
  readonly body: (meta: string) => string
  /** The call that may have been executed. */
  readonly runs?: string
  readonly code?: number
}

const call = (envelope: string, params: string): Row['body'] => {
  return said => `{${envelope},"params":{${params}${said === '' ? '' : `,${said}`}}}`
}
const plain = '"jsonrpc":"2.0","id":1,"method":"tools/call"'

/** Keys that parsers read differently: as another key, or as the first instead of the last duplicate. */
const rows: readonly Row[] = [
  { name: 'Method', body: call('"jsonrpc":"2.0","id":1,"Method":"tools/call"', '"name":"safe"') },
  { name: 'METHOD', body: call('"jsonrpc":"2.0","id":1,"METHOD":"tools/call"', '"name":"safe"') },
  { name: 'JSONRPC', body: call('"JSONRPC":"2.0","id":1,"method":"tools/call"', '"name":"safe"') },
  { name: 'Id', body: call('"jsonrpc":"2.0","Id":1,"method":"tools/call"', '"name":"danger"') },
  {
    name: 'params with a long s',
    body: said =>
      `{${plain},"param\u017f":{"name":"danger"},"params":{"name":"safe",${said || '"x":1'}}}`,
    runs: 'safe {}',
  },
  {
    name: 'Params beside params',
    body: said =>
      `{${plain},"Params":{"name":"danger"},"params":{"name":"safe",${said || '"x":1'}}}`,
    runs: 'safe {}',
  },
  {
    name: 'method twice',
    body: call('"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"', '"name":"safe"'),
    code: -32600,
  },
  {
    name: 'method twice, once by escapes',
    body: call(
      '"jsonrpc":"2.0","id":1,"method":"ping","\\u006dethod":"tools/call"',
      '"name":"safe"',
    ),
    code: -32600,
  },
  {
    name: 'method by escapes alone',
    body: call('"jsonrpc":"2.0","id":1,"\\u006dethod":"tools/call"', '"name":"safe"'),
    runs: 'safe {}',
  },
  { name: 'id twice', body: call(`${plain},"id":2`, '"name":"safe"'), code: -32600 },
  {
    name: 'params twice',
    body: said =>
      `{${plain},"params":{"name":"danger"},"params":{"name":"safe",${said || '"x":1'}}}`,
    code: -32600,
  },
  {
    name: 'the name in two cases',
    body: call(plain, '"name":"safe","Name":"danger","NAME":"danger"'),
    runs: 'safe {}',
  },
  {
    name: 'the name twice',
    body: call(plain, '"name":"danger","name":"safe"'),
    runs: 'safe {}',
  },
  {
    name: 'the name twice, once by escapes',
    body: call(plain, '"name":"danger","n\\u0061me":"safe"'),
    runs: 'safe {}',
  },
  {
    name: 'arguments with a Kelvin sign',
    body: call(plain, '"name":"safe","arguments":{"\u212a":"x","word":"a"}'),
    runs: 'safe {"\u212a":"x","word":"a"}',
  },
  {
    name: 'an argument twice',
    body: call(plain, '"name":"safe","arguments":{"word":"a","word":"b"}'),
    runs: 'safe {"word":"b"}',
  },
  {
    name: 'arguments twice',
    body: call(plain, '"name":"safe","arguments":{"word":"a"},"Arguments":{"word":"b"}'),
    runs: 'safe {"word":"a"}',
  },
  {
    name: 'a prototype',
    body: call(
      plain,
      '"__proto__":{"name":"danger"},"name":"safe","constructor":{"name":"danger"}',
    ),
    runs: 'safe {}',
  },
  { name: 'a prototype alone', body: call(plain, '"__proto__":{"name":"safe"}') },
  {
    name: 'arguments with a prototype',
    body: call(plain, '"name":"safe","arguments":{"__proto__":{"word":5},"word":"a"}'),
    runs: 'safe {"__proto__":{"word":5},"word":"a"}',
  },
  { name: 'what is not allowed', body: call(plain, '"name":"danger"'), code: -32000 },
]

/** Both eras, each with the request that carries a message. */
const eras: readonly (readonly [string, (on: Served, row: Row) => Promise<object>])[] = [
  [
    'without a session',
    async (_, { body }) => {
      const headers: Headers = {
        'mcp-protocol-version': stateless,
        'mcp-method': 'tools/call',
        'mcp-name': 'safe',
      }
      return { headers, body: body(meta) }
    },
  ],
  [
    'in a session',
    async (on, { body }) => ({
      ...inSession(await on.session(), ''),
      body: body(''),
    }),
  ],
]

describe.each(eras)('SEC-18: ambiguous keys, %s', (era, ask) => {
  test.each(rows)('$name: only the call that was allowed is executed, or none', async row => {
    const { on, seen, ran } = await guarded()
    const reply = await on.ask(await ask(on, row))
    // The middleware sees the call that is executed.
    expect(seen.filter(one => one.startsWith('safe'))).toEqual(ran)
    expect(ran).toEqual(row.runs === undefined ? [] : [row.runs])
    if (row.runs !== undefined) expect(reply.json.result.content[0].text).toBe('safe')
    else if (reply.text !== '') expect(typeof reply.json.error.code).toBe('number')
    // A header that contradicts the body is rejected before the middleware runs.
    const isNamedOtherwise = row.name === 'what is not allowed' && era === 'without a session'
    if (row.code !== undefined) {
      expect(reply.json.error.code).toBe(isNamedOtherwise ? -32020 : row.code)
    }
    await on.isAlive()
  })
})
