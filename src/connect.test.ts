import { createServer } from 'node:http'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { Owned } from '../test/support/channel.ts'
import { connect } from './connect.ts'
import { listen } from './listen.ts'
import { Server } from './server/server.ts'

const owned = new Owned()
afterEach(() => owned.closeAll())

function greeter(): Server {
  const server = new Server({ name: 'greeter', version: '1.0.0' })
  server.tool('greet', {}, () => 'hello')
  return owned.add(server)
}

describe('connecting', () => {
  test('connects to a server of this process', async () => {
    const client = owned.add(await connect(greeter()))
    expect(client.server.name).toBe('greeter')
    expect((await client.call('greet')).text).toBe('hello')
  })

  test('reaches one server on several addresses at once', async () => {
    const server = greeter()
    for (const address of ['tcp://127.0.0.1:0', 'ws://127.0.0.1:0']) {
      const listener = owned.add(await listen(server, address))
      const client = owned.add(await connect(listener.address))
      expect((await client.call('greet')).text).toBe('hello')
    }
  })

  test('accepts a URL object and an entry of mcpServers, with its headers', async () => {
    const http = owned.add(await listen(greeter(), 'http://127.0.0.1:0/mcp'))
    const url = new URL(http.address)
    for (const target of [url, { url }, { type: 'http', url: url.href }]) {
      const client = owned.add(await connect(target))
      expect((await client.call('greet')).text).toBe('hello')
    }
    const seen: unknown[] = []
    const web = createServer(({ headers }, response) => {
      seen.push([headers['x-a'], headers['x-b']])
      response.writeHead(403).end()
    })
    await new Promise<void>(resolve => web.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void web.close())
    const at = web.address()
    const port = typeof at === 'object' ? at?.port : undefined
    const target = { url: `http://127.0.0.1:${port}/`, headers: { 'x-a': '1', 'x-b': '1' } }
    await expect(connect(target, { headers: { 'x-b': '2' } })).rejects.toThrow('403')
    expect(seen[0]).toEqual(['1', '2'])
  })

  test('says where the server is if the path is wrong', async () => {
    const { address } = owned.add(await listen(greeter(), 'http://127.0.0.1:0/mcp'))
    const wrong = address.replace('/mcp', '/other')
    await expect(connect(wrong)).rejects.toThrow(`did you mean ${address}?`)
  })

  test.each([
    ['https:', 'the server does not speak TLS; use http: instead?'],
    ['wss:', 'the server does not speak TLS; use ws: instead?'],
  ])('recognizes %s to a server without TLS', async (scheme, words) => {
    const { address } = owned.add(await listen(greeter(), 'http://127.0.0.1:0/mcp'))
    await expect(connect(address.replace('http:', scheme))).rejects.toThrow(words)
  })

  test('uses the revision that the options name', async () => {
    const options = { revisions: ['2025-06-18'] } as const
    const client = owned.add(await connect(greeter(), options))
    expect(client.server.revision.name).toBe('2025-06-18')
  })

  test('caches the protocol version of a server', async () => {
    const probes: string[] = []
    const server = new Server({ name: 'a', version: '1' }, { revisions: ['2025-11-25'] })
    server.use(next => (message, exchange) => {
      probes.push(message.method)
      return next(message, exchange)
    })
    const listener = owned.add(await listen(owned.add(server), 'tcp://127.0.0.1:0'))
    for (let time = 0; time < 2; time++) await (await connect(listener.address)).close()
    expect(probes.filter(method => method === 'server/discover')).toHaveLength(1)
    expect(probes.filter(method => method === 'initialize')).toHaveLength(2)
  })

  test('is aborted by the signal until it is open', async () => {
    const stop = new AbortController()
    const listener = owned.add(await listen(greeter(), 'tcp://127.0.0.1:0'))
    const client = owned.add(await connect(listener.address, { signal: stop.signal }))
    stop.abort(new Error('enough'))
    expect((await client.call('greet')).text).toBe('hello')
    await expect(connect(listener.address, { signal: stop.signal })).rejects.toThrow('enough')
  })

  const refusals: readonly (readonly [string, unknown, string])[] = [
    [
      'no address',
      42,
      'connect() expects an address, a Server, { command }, { url } or { mcpServers }, got 42',
    ],
    ['an address of no known form', 'weather', 'cannot read the address "weather"'],
    ['an object without a command', {}, 'connect() expects an address, a Server, { command }'],
    ['a command that is no text', { command: 5 }, '"command" must be the name of a program'],
    ['a url that is no address', { url: 5 }, '"url" must be an address (got 5)'],
    ['servers under another name', { servers: {} }, 'did you mean { mcpServers }?'],
  ]

  test.each(refusals)('refuses %s', async (_, target, words) => {
    await expect(connect(target as string)).rejects.toThrow(words)
  })

  test('rejects a server as a target of plain JSON-RPC', async () => {
    const connecting = connect(greeter() as never, { protocol: 'jsonrpc' })
    await expect(connecting).rejects.toThrow('connect() expects an address, a Server, { command }')
  })
})

describe('listening', () => {
  test('rejects plain methods without the protocol jsonrpc', async () => {
    const listening = listen({ sum: () => 1 } as never, 'tcp://127.0.0.1:0')
    await expect(listening).rejects.toThrow("for plain methods, pass { protocol: 'jsonrpc' }")
  })

  test('rejects an unknown protocol', async () => {
    const listening = listen(greeter(), 'tcp://127.0.0.1:0', { protocol: 'soap' } as never)
    await expect(listening).rejects.toThrow(`option "protocol" must be 'mcp' or 'jsonrpc'`)
  })

  test('does not close the server when the listener closes', async () => {
    const server = greeter()
    const listener = await listen(server, 'tcp://127.0.0.1:0')
    await listener.close()
    const client = owned.add(await connect(server))
    expect((await client.call('greet')).text).toBe('hello')
  })
})
