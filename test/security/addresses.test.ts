import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { listen } from '../../src/listen.ts'
import { Server } from '../../src/server/server.ts'
import { calling, opening } from '../http/requests.ts'
import { serve } from '../http/served.ts'
import { stage } from '../support/http-server.ts'

/** Opens connections, and returns those that the server has not closed after a round trip. */
async function openConnections(port: number, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'))
  for (const socket of sockets) {
    socket.on('error', () => {}).resume()
    onTestFinished(() => void socket.destroy())
  }
  await Promise.all(sockets.map(socket => once(socket, 'connect')))
  return sockets
}

describe.each([
  ['HTTP', 'http://127.0.0.1:0/mcp', {}],
  ['HTTP with the parser of Node', 'http://127.0.0.1:0/mcp', { http: { parser: 'node' } }],
  ['WebSocket', 'ws://127.0.0.1:0/', {}],
  ['TCP', 'tcp://127.0.0.1:0', {}],
] as const)('connections of one address over %s', (_, address, options) => {
  test('are limited, and their number falls when they close', async () => {
    const errors: Error[] = []
    const listener = await listen(stage().server, address, {
      ...options,
      maxConnectionsPerAddress: 3,
      onError: error => void errors.push(error as Error),
    })
    onTestFinished(() => listener.close())
    const port = Number(/:(\d+)/.exec(listener.address)?.[1])
    const sockets = await openConnections(port, 5)
    await expect.poll(() => sockets.filter(socket => socket.closed).length).toBe(2)
    await expect.poll(() => errors.length).toBe(2)
    expect(errors[0]).toMatchObject({ code: 'too-many' })
    for (const socket of sockets) socket.destroy()
    await expect
      .poll(async () => {
        const [socket] = await openConnections(port, 1)
        await new Promise(resolve => setImmediate(resolve))
        return socket?.closed
      })
      .toBe(false)
  })
})

test('connections of this machine are not limited by default, nor those of trusted proxies', async () => {
  const options = { maxConnectionsPerAddress: 1, trustedProxies: ['127.0.0.0/8'] }
  const served = await serve(options)
  const sockets = await openConnections(served.port, 5)
  await served.isAlive()
  expect(sockets.filter(socket => socket.closed)).toEqual([])
})

test('an invalid proxy is refused before anything is opened', async () => {
  const options = { trustedProxies: ['proxy.example'] }
  for (const address of ['http://127.0.0.1:0/', 'ws://127.0.0.1:0/', 'tcp://127.0.0.1:0']) {
    await expect(listen(stage().server, address, options)).rejects.toThrow(/trustedProxies/)
  }
})

describe.each(['fast', 'node'] as const)('sessions of one address with the parser %s', parser => {
  test('are limited', async () => {
    const served = await serve({ http: { parser, sessions: { maxSessionsPerAddress: 2 } } })
    const statuses: number[] = []
    for (let i = 0; i < 3; i++) statuses.push((await served.ask(opening())).status)
    expect(statuses).toEqual([200, 200, 503])
  })

  test('count for the client that a trusted proxy names', async () => {
    const sessions = { maxSessionsPerAddress: 1 }
    const served = await serve({ trustedProxies: ['127.0.0.1'], http: { parser, sessions } })
    const from = (client: string) => {
      const asking = opening()
      return served.ask({ ...asking, headers: { ...asking.headers, 'x-forwarded-for': client } })
    }
    expect((await from('198.51.100.1')).status).toBe(200)
    expect((await from('198.51.100.2')).status).toBe(200)
    expect((await from('forged, 198.51.100.1')).status).toBe(503)
  })
})

test('tasks of callers that nobody has identified count for their client addresses', async () => {
  const server = new Server({ name: 'tasks', version: '1' }, { tasks: { maxPerCaller: 1 } })
  server.tool('long', { task: 'required' }, (_, { signal }) => {
    return new Promise(resolve => signal.addEventListener('abort', () => resolve('')))
  })
  const served = await serve({ trustedProxies: ['127.0.0.1'] }, server)
  const meta = {
    'io.modelcontextprotocol/clientCapabilities': {
      extensions: { 'io.modelcontextprotocol/tasks': {} },
    },
  }
  const call = async (address: string) => {
    const { json } = await served.ask(
      calling('long', {}, { meta, headers: { 'x-forwarded-for': address } }),
    )
    return json.error?.message ?? json.result.resultType
  }
  expect(await call('203.0.113.1')).toBe('task')
  expect(await call('203.0.113.1')).toContain('Maximum concurrent tasks')
  expect(await call('203.0.113.2')).toBe('task')
  // Addresses of private networks have a quota each, too.
  expect([await call('10.0.0.1'), await call('10.0.0.2')]).toEqual(['task', 'task'])
  expect(await call('10.0.0.2')).toContain('Maximum concurrent tasks')
  await server.close()
})
