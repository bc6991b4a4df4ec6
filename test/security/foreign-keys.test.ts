import { describe, expect, test } from 'vitest'
import { connect, Server } from '../../src/index.ts'
import { encode } from '../../src/jsonrpc/codec/encode.ts'
import type { Message } from '../../src/jsonrpc/message.ts'
import type { RevisionName } from '../../src/mcp/revisions/revisions.ts'
import { parseTemplate } from '../../src/mcp/uri-template/template.ts'
import { readConfig } from '../../src/router/config/read.ts'
import { Router } from '../../src/router/index.ts'
import { memoryPair } from '../../src/transport/memory.ts'

// biome-ignore lint/suspicious/noExplicitAny: assertions say what they expect
type Loose = any

const stateless = '2026-07-28'
const revisions = ['2025-03-26', '2025-11-25', stateless] as const
const cells = revisions.flatMap(front => revisions.map(behind => [front, behind] as const))
const key = 'io.modelcontextprotocol/'
const hostileNames = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']

/** Members that belong to one hop, and must not pass a router. */
const hop = `"_meta":{"progressToken":"stolen","${key}related-task":{"taskId":"t"},"${key}logLevel":"debug","${key}subscriptionId":"s"}`

/** A server that records the params it gets and answers every tool call with `result`. */
function recording(revision: RevisionName, result: unknown = { content: [] }) {
  const server = new Server({ name: 'behind', version: '1' }, { revisions: [revision] })
  const calls: Loose[] = []
  server.tool('tell', { input: { type: 'object' } }, () => 'ok')
  server.use(next => async (message, exchange) => {
    if (message.method !== 'tools/call') return next(message, exchange)
    calls.push(message.params)
    await next(message, exchange)
    return result
  })
  return { server, calls }
}

/** Sends one request to the router, as text, and returns its reply. */
async function talk(router: Router, revision: string, params: string): Promise<Loose> {
  const [near, far] = memoryPair()
  router.attach(far)
  const replies = new Map<unknown, (reply: Loose) => void>()
  near.open({
    receive: arrival => {
      const message = JSON.parse(encode(arrival as Message))
      replies.get(message.id)?.(message)
    },
    closed: () => {},
  })
  const request = (id: string, method: string, given: Loose) =>
    new Promise<Loose>(resolve => {
      replies.set(id, resolve)
      void near.send({ type: 'request', id, method, params: given })
    })
  const given = JSON.parse(params)
  if (revision === stateless) {
    given._meta = {
      ...given._meta,
      [`${key}protocolVersion`]: revision,
      [`${key}clientCapabilities`]: {},
    }
  } else {
    const clientInfo = { name: 'in front', version: '1' }
    await request('open', 'initialize', { protocolVersion: revision, capabilities: {}, clientInfo })
    await near.send({ type: 'notification', method: 'notifications/initialized' })
  }
  const reply = await request('call', 'tools/call', given)
  await near.close()
  return reply
}

/** Whether a value got members from a prototype other than that of objects. */
function isPolluted(value: Loose): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype !== Object.prototype && prototype !== null
}

describe.each(cells)('a router between a caller of %s and a server of %s', (front, behind) => {
  test.each([
    ['params', `{"name":"tell","arguments":{},"__proto__":{${hop}}}`],
    [
      'params with another _meta',
      `{"name":"tell","__proto__":{${hop}},"_meta":{"example.com/a":1}}`,
    ],
    ['_meta', `{"name":"tell","_meta":{"example.com/a":1,"__proto__":{"progressToken":"stolen"}}}`],
    ['constructor', `{"name":"tell","constructor":{"prototype":{${hop}}}}`],
    ['arguments', `{"name":"tell","arguments":{"__proto__":{"isAdmin":true,${hop}}}}`],
  ])('keeps the members of a hop from passing within __proto__ of %s', async (_where, params) => {
    const { server, calls } = recording(behind)
    await using router = new Router({ servers: { x: { server, prefix: false } } })
    const reply = await talk(router, front, params)
    expect(reply.error).toBeUndefined()
    const [sent] = calls
    expect(isPolluted(sent)).toBe(false)
    expect(isPolluted(sent.arguments ?? {})).toBe(false)
    expect(isPolluted(sent._meta ?? {})).toBe(false)
    const own = JSON.stringify({ ...sent._meta, ['__proto__']: undefined })
    expect(own).not.toMatch(/stolen|related-task|debug|subscriptionId/)
    expect('isAdmin' in {}).toBe(false)
  })

  test('keeps them from passing within __proto__ of a result', async () => {
    const result = JSON.parse(
      `{"content":[{"type":"text","text":"a","__proto__":{"type":"x"}}],"__proto__":{${hop},"isError":true}}`,
    )
    const { server } = recording(behind, result)
    await using router = new Router({ servers: { x: { server, prefix: false } } })
    const { result: got } = await talk(router, front, '{"name":"tell"}')
    expect(got.content).toMatchObject([{ type: 'text', text: 'a' }])
    expect(got.isError).toBeUndefined()
    expect(JSON.stringify(got._meta ?? {})).not.toMatch(/stolen|related-task/)
  })
})

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

describe.each(revisions)('names that every object inherits, in revision %s', revision => {
  /** Connects to a server directly, and through a router. */
  async function* clients(server: Server) {
    {
      await using client = await connect(server, { revisions: [revision] })
      yield client
    }
    await using router = new Router({ servers: { x: { server, prefix: false } } })
    await using client = await connect(router, { revisions: [revision] })
    yield client
  }

  test.each(hostileNames)('are names of tools like any other: %s', async name => {
    const empty = new Server({ name: 'none', version: '1' })
    empty.tool('other', {}, () => 'other')
    for await (const client of clients(empty)) {
      await expect(client.call(name)).rejects.toMatchObject({ code: -32602 })
    }
    const server = new Server({ name: 'named', version: '1' }, { onError: () => {} })
    server.tool(name, {}, () => `I am ${name}`)
    for await (const client of clients(server)) {
      expect((await all(client.tools())).map(tool => tool.name)).toEqual([name])
      expect((await client.call(name)).text).toBe(`I am ${name}`)
    }
  })

  test.each(hostileNames)(
    'are missing arguments of prompts unless they are given: %s',
    async name => {
      const server = new Server({ name: 'named', version: '1' })
      const properties = JSON.parse(`{"${name}":{"type":"string"}}`)
      const args = { type: 'object', properties, required: [name] } as const
      server.prompt('say', { args }, given => JSON.stringify(Object.entries(given as object)))
      for await (const client of clients(server)) {
        await expect(client.prompt('say', {})).rejects.toMatchObject({ code: -32602 })
        const { messages } = await client.prompt('say', JSON.parse(`{"${name}":"v"}`))
        expect(messages).toMatchObject([{ content: { text: `[["${name}","v"]]` } }])
      }
    },
  )

  test.each(hostileNames)('are names of arguments like any other: %s', async name => {
    const server = new Server({ name: 'named', version: '1' })
    const properties = JSON.parse(`{"${name}":{"type":"string"}}`)
    const input = { type: 'object', properties, required: [name] } as const
    server.tool('echo', { input }, given => JSON.stringify(Object.entries(given as object)))
    for await (const client of clients(server)) {
      // Some revisions reject the call, others answer with a result that is an error.
      const isRefused = client.call('echo', {}).then(
        ({ isError }) => isError,
        () => true,
      )
      expect(await isRefused).toBe(true)
      const given = JSON.parse(`{"${name}":"v"}`)
      expect((await client.call('echo', given)).text).toBe(`[["${name}","v"]]`)
    }
  })

  test.each(hostileNames)('are names of fields of a form like any other: %s', async name => {
    const server = new Server({ name: 'named', version: '1' })
    const requestedSchema = JSON.parse(
      `{"type":"object","properties":{"${name}":{"type":"string"}},"required":["${name}"]}`,
    )
    server.tool('ask', {}, async (_input, ctx) => {
      const answer = await ctx.elicit({ message: 'who?', schema: requestedSchema })
      return JSON.stringify(Object.entries(answer as object))
    })
    if (revision === '2025-03-26') return
    await using client = await connect(server, {
      revisions: [revision],
      elicit: () => ({ action: 'accept', content: JSON.parse(`{"${name}":"v"}`) }),
    })
    expect((await client.call('ask')).text).toContain(`["${name}","v"]`)
  })
})

test.each(hostileNames)('a URI template has variables of any name: %s', name => {
  const template = parseTemplate(`x://{${name}}/y`)
  const found = template.match('x://value/y')
  expect(Object.entries(found ?? {})).toEqual([[name, 'value']])
  expect(template.expand(JSON.parse(`{"${name}":"a"}`))).toBe('x://a/y')
  expect(template.expand({})).toBe('x:///y')
})

test.each(hostileNames)('a configuration file has servers of any name: %s', name => {
  const text = `{"mcpServers":{"${name}":{"url":"http://127.0.0.1:1/mcp","headers":{"${name}":"v"}}}}`
  const { servers } = readConfig(text, { env: {} })
  expect(Object.entries(servers)).toMatchObject([[name, {}]])
  expect(Object.entries(servers).flatMap(([, { headers }]) => Object.keys(headers ?? {}))).toEqual([
    name,
  ])
})
