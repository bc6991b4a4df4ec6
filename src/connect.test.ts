import { afterEach, describe, expect, test } from 'vitest'
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
  test('takes a server of this process', async () => {
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

  test('speaks the revision it is told to', async () => {
    const options = { revisions: ['2025-06-18'] }
    const client = owned.add(await connect(greeter(), options))
    expect(client.server.revision.name).toBe('2025-06-18')
  })

  test('remembers what a server speaks', async () => {
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

  test('gives up when the signal says so, and not once it is open', async () => {
    const stop = new AbortController()
    const listener = owned.add(await listen(greeter(), 'tcp://127.0.0.1:0'))
    const client = owned.add(await connect(listener.address, { signal: stop.signal }))
    stop.abort(new Error('enough'))
    expect((await client.call('greet')).text).toBe('hello')
    await expect(connect(listener.address, { signal: stop.signal })).rejects.toThrow('enough')
  })

  const refusals: readonly (readonly [string, unknown, string])[] = [
    ['no address', 42, 'connecting needs an address or { command }, not 42'],
    ['an address of no known form', 'weather', 'cannot read the address "weather"'],
    ['an object without a command', {}, 'the "command" to start is the name of a program'],
  ]

  test.each(refusals)('refuses %s', async (_, target, words) => {
    await expect(connect(target as string)).rejects.toThrow(words)
  })

  test('refuses a server as a peer of plain JSON-RPC', async () => {
    const connecting = connect(greeter() as never, { protocol: 'jsonrpc' })
    await expect(connecting).rejects.toThrow('connecting needs an address or { command }')
  })
})

describe('listening', () => {
  test('refuses plain methods unless told that they are meant', async () => {
    const listening = listen({ sum: () => 1 } as never, 'tcp://127.0.0.1:0')
    await expect(listening).rejects.toThrow("for plain methods, say { protocol: 'jsonrpc' }")
  })

  test('refuses a protocol that does not exist', async () => {
    const listening = listen(greeter(), 'tcp://127.0.0.1:0', { protocol: 'soap' } as never)
    await expect(listening).rejects.toThrow(`the option "protocol" is 'mcp' or 'jsonrpc'`)
  })

  test('leaves the server as it is when it is closed', async () => {
    const server = greeter()
    const listener = await listen(server, 'tcp://127.0.0.1:0')
    await listener.close()
    const client = owned.add(await connect(server))
    expect((await client.call('greet')).text).toBe('hello')
  })
})
