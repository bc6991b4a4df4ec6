import { describe, expect, test } from 'vitest'
import { connect } from '../../src/connect.ts'
import { listen } from '../../src/listen.ts'
import { stage } from '../support/http-server.ts'
import { type Asking, type Headers, Wire, written } from './raw.ts'
import { speaking } from './requests.ts'
import { serve } from './served.ts'

const upgrade: Asking = {
  method: 'GET',
  headers: {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  },
}

/** Every kind of request that one port accepts, with the status of an accepted one. */
const gates: readonly (readonly [string, Asking, number])[] = [
  ['a request', speaking('tools/list'), 200],
  ['a WebSocket', upgrade, 101],
]

/** Sends a request over loopback to a listener on all addresses; returns the status. */
async function asked(port: number, gate: Asking, headers: Headers): Promise<number> {
  const wire = await Wire.open(port)
  wire.send(written(port, { ...gate, headers: { ...gate.headers, ...headers } }))
  const { status } = await wire.begin()
  wire.cut()
  return status
}

describe.each(gates)('SEC-01, SEC-03: %s to a server on all addresses', (_, gate, welcome) => {
  test('that arrives on an address of this machine must name this machine', async () => {
    const { server } = stage()
    const options = { allowedHosts: ['api.example'], onError: () => {} }
    await using listener = await listen(server, 'http://0.0.0.0:0/mcp', options)
    const port = Number(new URL(listener.address).port)
    // A page that uses DNS rebinding is recognized by its host name.
    const foreign = ['evil.test', `evil.test:${port}`, `localhost.evil.test:${port}`, 'localhost']
    for (const host of foreign)
      expect([host, await asked(port, gate, { host })]).toEqual([host, 403])
    for (const origin of ['http://evil.test', `http://evil.test:${port}`, 'null']) {
      expect([origin, await asked(port, gate, { origin })]).toEqual([origin, 403])
    }
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, 'api.example']) {
      expect([host, await asked(port, gate, { host })]).toEqual([host, welcome])
    }
    const origin = `http://localhost:${port}`
    expect(await asked(port, gate, { origin })).toBe(welcome)
  })

  test('is checked without a list of allowed hosts', async () => {
    const { server } = stage()
    await using listener = await listen(server, 'http://0.0.0.0:0/mcp', { onError: () => {} })
    const port = Number(new URL(listener.address).port)
    expect(await asked(port, gate, { host: 'evil.test' })).toBe(403)
    expect(await asked(port, gate, {})).toBe(welcome)
  })
})

test('SEC-03: a listener for WebSockets only has the same rule', async () => {
  const { server } = stage()
  await using listener = await listen(server, 'ws://0.0.0.0:0/mcp', { onError: () => {} })
  const port = Number(new URL(listener.address).port)
  expect(await asked(port, upgrade, { host: `evil.test:${port}` })).toBe(403)
  expect(await asked(port, { ...upgrade, path: '/other' }, {})).toBe(404)
  expect(await asked(port, upgrade, {})).toBe(101)
})

describe('an address with a wrong path', () => {
  test.each([
    ['found out by asking', {}],
    ['with sessions', { era: 'session' }],
    ['without sessions', { era: 'stateless' }],
  ] as const)('is named by the error of a client, %s', async (_, options) => {
    const on = await serve()
    const wrong = on.listener.address.replace('/mcp', '/wrong')
    const failed = connect(wrong, { ...options, onError: () => {} })
    await expect(failed).rejects.toMatchObject({ name: 'ChannelError', code: 'refused' })
    await expect(failed).rejects.toThrow(`POST ${wrong} was answered 404 Not Found`)
    await expect(failed).rejects.toThrow('Nothing is served at this path')
  })

  test('is named by the error of a plain JSON-RPC peer', async () => {
    const options = { protocol: 'jsonrpc' } as const
    await using listener = await listen({ sum: () => 1 }, 'http://127.0.0.1:0/rpc', options)
    const wrong = listener.address.replace('/rpc', '/wrong')
    await using peer = await connect(wrong, options)
    const failed = peer.call('sum')
    await expect(failed).rejects.toMatchObject({ name: 'ChannelError', code: 'refused' })
    await expect(failed).rejects.toThrow(`POST ${wrong} was answered 404 Not Found`)
  })
})
