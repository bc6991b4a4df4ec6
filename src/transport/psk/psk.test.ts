import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { deferred } from '../../util/promises.ts'
import { parsePskAddress } from './address.ts'
import { connectPsk } from './connect.ts'
import { pskClientOptions, pskKey } from './key.ts'
import { listenPsk, type PskListener } from './listen.ts'

const key = pskKey('s'.repeat(32), 'name', 'test')
let folder: string
let listener: PskListener | undefined
let errors: string[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tl-'))
  errors = []
})
afterEach(async () => {
  await listener?.close()
  listener = undefined
  rmSync(folder, { recursive: true })
})

/** Listens, and sends back what arrives. */
async function echo(address = 'tcp://127.0.0.1:0'): Promise<PskListener> {
  listener = await listenPsk(address, {
    key,
    handshakeMs: 60_000,
    accept: socket => {
      socket.start({ data: bytes => socket.write(bytes), drained: () => {}, closed: () => {} })
    },
    onError: error => errors.push(error.message),
  })
  return listener
}

test.each([
  ['TCP', () => 'tcp://127.0.0.1:0'],
  ['a Unix socket', () => `unix:${join(folder, 's')}`],
])('bytes come back over %s, and both sides close', async (_, address) => {
  const { address: bound } = await echo(address())
  const [received, closed] = [deferred<string>(), deferred<string | undefined>()]
  const socket = connectPsk(bound, key, () => socket.write(Buffer.from('hello')))
  socket.start({
    data: bytes => received.resolve(String(bytes)),
    drained: () => {},
    closed: closed.resolve,
  })
  expect(await received.promise).toBe('hello')
  socket.end()
  expect(await closed.promise).toBeUndefined()
})

test('a client without the key is refused, whatever it offers', async () => {
  const { address } = await echo()
  const port = Number(/\d+$/.exec(address)?.[0])
  for (const maxVersion of ['TLSv1.3', 'TLSv1.2'] as const) {
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, maxVersion })
    const [error] = await once(socket, 'error')
    expect(error).toBeInstanceOf(Error)
  }
  await expect.poll(() => errors).toHaveLength(2)
  expect(errors[0]).toBe('refused a connection from 127.0.0.1: it presented no pre-shared key')
})

test('a server that presents a certificate is refused, trusted or not', async () => {
  const pem = readFileSync(join(import.meta.dirname, '../../../test/fixtures/localhost.pem'))
  const server = createTlsServer({ key: pem, cert: pem }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // The check: a server that listens on a port has such an address.
  const { port } = server.address() as AddressInfo
  const closed = deferred<string | undefined>()
  const opened = vi.fn()
  connectPsk(`tcp://127.0.0.1:${port}`, key, opened).start({
    data: () => {},
    drained: () => {},
    closed: closed.resolve,
  })
  expect(await closed.promise).toBe('it does not accept a pre-shared key')
  expect(opened).not.toHaveBeenCalled()
  expect(pskClientOptions(key).checkServerIdentity()).toBeInstanceOf(Error)
  server.close()
})

test('a socket file is its owner’s alone', async () => {
  await echo(`unix:${join(folder, 's')}`)
  expect(statSync(join(folder, 's')).mode & 0o777).toBe(0o600)
})

test('an address that is taken is named', async () => {
  const { address } = await echo()
  const options = { key, handshakeMs: 1, accept: () => {}, onError: () => {} }
  await expect(listenPsk(address, options)).rejects.toThrow(
    `listening on ${address}: already in use`,
  )
})

describe('keys', () => {
  test('differ by secret and by purpose, and have 32 bytes', () => {
    const keys = [key, pskKey('t'.repeat(32), 'name', 'test'), pskKey('s'.repeat(32), 'name', 'x')]
    expect(new Set(keys.map(({ psk }) => Buffer.from(psk).toString('hex'))).size).toBe(3)
    expect(keys.map(({ psk }) => psk.length)).toEqual([32, 32, 32])
  })
})

describe('addresses', () => {
  test.each([
    ['tcp://10.0.0.1:4100', { host: '10.0.0.1', port: 4100 }],
    ['tcp://localhost:0', { host: '127.0.0.1', port: 0 }],
    ['tcp://[::1]:1', { host: '::1', port: 1 }],
    ['unix:/run/s', { path: '/run/s' }],
    ['unix:///run/s', { path: '/run/s' }],
    ['unix:s', { path: 's' }],
  ])('%s', (text, target) => {
    expect(parsePskAddress(text)).toEqual(target)
  })

  test.each([
    '',
    'tcp://x',
    'tcp://:1',
    'tcp://x:70000',
    'tcp://x:1/y',
    'unix:',
    'unix://host/s',
    'http://x:1',
  ])('%j cannot be read', text => {
    expect(() => parsePskAddress(text)).toThrow(TypeError)
  })
})
