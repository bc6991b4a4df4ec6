import { afterEach, describe, expect, test } from 'vitest'
import { connect } from '../src/connect.ts'
import { listen } from '../src/listen.ts'
import { Router } from '../src/router/router.ts'
import { serve } from '../src/serve.ts'
import { Server } from '../src/server/server.ts'
import { Owned } from './support/channel.ts'

const owned = new Owned()
afterEach(() => owned.closeAll())

const info = { name: 'a', version: '1' }
const server = () => owned.add(new Server(info))
const slip = (name: string, meant: string) =>
  new TypeError(`unknown option "${name}"; did you mean "${meant}"?`)

describe('an unknown option', () => {
  test.each([
    'stdio:',
    'tcp://127.0.0.1:0',
    'unix:never-made.sock',
    'pipe:never-made',
    'ws://127.0.0.1:0',
    'http://127.0.0.1:0/mcp',
  ])('is refused by listen on %s, and by connect', async address => {
    const listening = { drianMs: 5 } as object
    await expect(listen(server(), address, listening)).rejects.toThrow(slip('drianMs', 'drainMs'))
    const connecting = { handshakMs: 5 } as object
    const refused = connect(address, connecting)
    await expect(refused).rejects.toThrow(slip('handshakMs', 'handshakeMs'))
  })

  test('is rejected by connect for every kind of target', async () => {
    const options = { timeoutMS: 5 } as object
    for (const target of [server(), { command: 'never' }, { mcpServers: {} }]) {
      await expect(connect(target, options)).rejects.toThrow(slip('timeoutMS', 'timeoutMs'))
    }
  })

  test('is rejected by serve, which has more options than listen', async () => {
    const options = { adresses: [] } as object
    await expect(serve(server(), options)).rejects.toThrow(slip('adresses', 'addresses'))
    const one = { addresses: 'tcp://127.0.0.1:0' } as object
    await expect(serve(server(), one)).rejects.toThrow(/"addresses" must be an array of strings/)
  })

  test.each<[object, string]>([
    [{ pagesize: 5 }, 'unknown option "pagesize"; did you mean "pageSize"?'],
    [
      { peer: { maxInflight: 5 } },
      'unknown option "peer.maxInflight"; did you mean "peer.maxInFlight"?',
    ],
    [{ tasks: { ttl: 5 } }, 'unknown option "tasks.ttl"; known options: store, '],
    [{ cache: { tool: {} } }, 'unknown option "cache.tool"; did you mean "cache.tools"?'],
    [{ capabilities: {} }, 'unknown option "capabilities"; known options: profile, '],
    [{ onError: 'print' }, 'option "onError" must be a function (got "print")'],
  ])('is refused by a server: %j', (options, words) => {
    expect(() => new Server(info, options)).toThrow(TypeError)
    expect(() => new Server(info, options)).toThrow(words)
  })

  test.each<[object, string]>([
    [{ server: {} }, 'unknown option "server"; did you mean "servers"?'],
    [
      { limits: { persecond: 5 } },
      'unknown option "limits.persecond"; did you mean "limits.perSecond"?',
    ],
    [{ parkedMs: 'long' }, 'option "parkedMs" must be a number from 0 to'],
    [
      { servers: { a: { comand: 'x' } } },
      'server "a": unknown option "comand"; did you mean "command"?',
    ],
    [
      { servers: { a: { command: 'x', args: '-v' } } },
      'server "a": option "args" must be an array of strings (got "-v")',
    ],
    [
      { servers: { a: { command: 'x', timeoutMs: '5' } } },
      'server "a": option "timeoutMs" must be a number (got "5")',
    ],
    [
      { servers: { a: { command: 'x', limits: { tools: { t: { brust: 5 } } } } } },
      'unknown option "limits.tools.t.brust"; did you mean "limits.tools.t.burst"?',
    ],
    [
      { servers: { a: { command: 'x', breaker: true } } },
      'option "breaker" must be an object of options or false (got true)',
    ],
    [
      { servers: { a: { urls: [{ url: 'tcp://127.0.0.1:1', wieght: 5 }] } } },
      'server "a", "urls": unknown option "wieght"; did you mean "weight"?',
    ],
  ])('is refused by a router: %j', (options, words) => {
    expect(() => new Router(options)).toThrow(TypeError)
    expect(() => new Router(options)).toThrow(words)
  })

  test('is rejected by a router for servers added later, and changes nothing', async () => {
    const router = owned.add(new Router({ servers: { a: server() } }))
    const wrong = { command: 'never', instnaces: 2 } as object
    const words = 'server "b": unknown option "instnaces"; did you mean "instances"?'
    expect(() => router.register('b', wrong)).toThrow(new TypeError(words))
    await expect(router.update({ b: wrong })).rejects.toThrow(new TypeError(words))
    expect(router.servers().map(({ name }) => name)).toEqual(['a'])
  })
})
