import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect as connectTcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect.ts'
import { type ListenOptions, listen } from '../../src/listen.ts'
import { addressesOf, tlsOf } from '../../src/serve-address.ts'
import { Server } from '../../src/server/server.ts'
import type { Listener } from '../../src/transport/listener.ts'
import { Owned } from '../support/channel.ts'
import { pollOptions } from '../support/poll-options.ts'

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}.pem`, import.meta.url))
const pem = (name: string) => readFileSync(fixture(name), 'utf8')
const serial = (name: string) => new X509Certificate(pem(name)).serialNumber
const local = { cert: fixture('localhost'), key: fixture('localhost') }
const own = new Owned()
afterEach(() => own.closeAll())

async function serve(address: string, options: ListenOptions = {}): Promise<Listener> {
  const server = own.add(new Server({ name: 's', version: '1' }))
  const input = {
    type: 'object',
    properties: { padding: { type: 'string' } },
  } as const
  server.tool('echo', { description: 'Answers.', input }, () => 'echo')
  return own.add(await listen(server, address, { tls: local, ...options }))
}

/** The address under the name in the certificate. */
const named = ({ address }: Listener) => address.replace('127.0.0.1', 'localhost')

describe.each(['https', 'wss'])('%s:', scheme => {
  test.each(['fast', 'node'] as const)(
    'serves every revision, with the parser %s',
    async parser => {
      const listener = await serve(`${scheme}://127.0.0.1:0/mcp`, { http: { parser } })
      expect(listener.address).toMatch(new RegExp(`^${scheme}://127.0.0.1:\\d+/mcp$`))
      for (const revision of ['2025-11-25', '2026-07-28'] as const) {
        const options = { ca: pem('localhost'), revisions: [revision], reconnect: false as const }
        const client = own.add(await connect(named(listener), options))
        expect((await client.call('echo')).text).toBe('echo')
        const big = { padding: 'x'.repeat(200_000) }
        expect((await client.call('echo', big)).text).toBe('echo')
      }
    },
  )

  test('is refused by a client that does not trust the certificate', async () => {
    const listener = await serve(`${scheme}://127.0.0.1:0/mcp`)
    const refused = connect(named(listener), { reconnect: false })
    await expect(refused).rejects.toMatchObject({ code: 'refused' })
  })

  test('renews its certificate without closing connections', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-tls-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'tls.pem')
    copyFileSync(fixture('localhost'), file)
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    const tls = { cert: file, key: file }
    const listener = await serve(`${scheme}://127.0.0.1:0/mcp`, { tls, onError })
    const client = own.add(await connect(named(listener), { ca: pem('localhost') }))
    expect(await presented(listener)).toBe(serial('localhost'))
    copyFileSync(fixture('renewed'), file)
    await listener.reload?.()
    expect(await presented(listener)).toBe(serial('renewed'))
    expect((await client.call('echo')).text).toBe('echo')
    copyFileSync(fileURLToPath(import.meta.url), file)
    await listener.reload?.()
    expect(await presented(listener)).toBe(serial('renewed'))
    expect(errors).toMatchObject([
      { message: expect.stringContaining('the old certificate stays') },
    ])
  })

  test('notices by itself that the files have changed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-tls-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'tls.pem')
    copyFileSync(fixture('localhost'), file)
    const listener = await serve(`${scheme}://127.0.0.1:0/mcp`, { tls: { cert: file, key: file } })
    copyFileSync(fixture('renewed'), file)
    await expect.poll(() => presented(listener), pollOptions).toBe(serial('renewed'))
  })

  test('refuses versions before 1.2, and closes though handshakes are not completed', async () => {
    const listener = await serve(`${scheme}://127.0.0.1:0/mcp`)
    const port = Number(new URL(listener.address).port)
    const old = connectTls({ port, host: '127.0.0.1', maxVersion: 'TLSv1.1', minVersion: 'TLSv1' })
    await expect(opened(old)).rejects.toThrow()
    const silent = connectTcp(port, '127.0.0.1')
    await new Promise(resolve => silent.once('connect', resolve))
    const gone = new Promise(resolve => silent.once('close', resolve))
    await listener.close()
    await gone
  })

  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const foreign = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  test.each([
    ['without a certificate', undefined, /needs a certificate and its key/],
    ['without its file', { ...local, key: '/nowhere.pem' }, /tls\.key cannot be read: .*nowhere/],
    ['with another key', { ...local, key: foreign }, /is not the key of the certificate/],
    ['without PEM', { ...local, cert: fileURLToPath(import.meta.url) }, /tls\.cert is not a cert/],
    ['with the key missing', { cert: pem('localhost'), key: foreign.slice(0, 40) }, /tls\.key/],
  ])('is not listened on %s', async (_, tls, why) => {
    const failed = serve(`${scheme}://127.0.0.1:0/mcp`, { tls })
    await expect(failed).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringMatching(why),
    })
  })

  test('warns of a certificate that has expired', async () => {
    const errors: Error[] = []
    const tls = { cert: pem('expired'), key: pem('expired') }
    const onError = (error: unknown) => errors.push(error as Error)
    await serve(`${scheme}://127.0.0.1:0/mcp`, { tls, onError })
    expect(errors).toMatchObject([{ message: expect.stringMatching(/expired on 20\d\d-/) }])
  })
})

test('calls go over a WebSocket on https: too', async () => {
  const listener = await serve('https://127.0.0.1:0/mcp')
  let isOpen = false
  const onWebSocket = (open: boolean): void => {
    isOpen = open
  }
  const options = { ca: pem('localhost'), websocket: true, onWebSocket }
  const client = own.add(await connect(named(listener), options))
  await expect.poll(() => isOpen, pollOptions).toBe(true)
  expect((await client.call('echo')).text).toBe('echo')
})

describe('the arguments of a program', () => {
  test('name addresses with TLS and their certificate', () => {
    const argv = ['--https', '3443', '--tls-cert', 'c.pem', '--tls-key=k.pem']
    expect(addressesOf(argv, {})).toEqual(['https://127.0.0.1:3443/mcp'])
    expect(tlsOf(argv, {})).toEqual({ cert: 'c.pem', key: 'k.pem' })
    expect(tlsOf([], { MCP_TLS_CERT: 'c', MCP_TLS_KEY: 'k' })).toEqual({ cert: 'c', key: 'k' })
    expect(tlsOf(['--http', '1'], {})).toBeUndefined()
    expect(() => tlsOf(['--tls-cert', 'c'], {})).toThrow('--tls-cert needs --tls-key')
  })
})

/** The serial number of the certificate that a listener presents to a new connection. */
async function presented(listener: Listener): Promise<string> {
  const { port } = new URL(listener.address)
  const socket = connectTls({ port: Number(port), host: '127.0.0.1', rejectUnauthorized: false })
  await opened(socket)
  const { serialNumber } = socket.getPeerCertificate()
  socket.destroy()
  return serialNumber
}

function opened(socket: TLSSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('secureConnect', () => resolve()).once('error', reject)
  })
}
