import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect as connectSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import {
  type ApiKeyRecord,
  type ApiKeySource,
  apiKeys,
  authenticator,
  keyFile,
  newApiKey,
} from '../../src/auth/index.ts'
import { listen } from '../../src/listen.ts'
import { Server } from '../../src/server/server.ts'
import { limits } from '../../src/util/limits/limits.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const [ada, bob] = [await newApiKey('ada'), await newApiKey('bob')]

/** Keys that a test changes. */
function changingKeys() {
  let keys: readonly ApiKeyRecord[] = [ada.record, bob.record]
  const source: ApiKeySource = { current: () => keys }
  const change = (next: readonly ApiKeyRecord[]) => {
    keys = next
    source.onChange?.()
  }
  return { source, change }
}

async function serve(keys: ApiKeySource, address = 'http://127.0.0.1:0/mcp') {
  const server = new Server({ name: 'guarded', version: '1' })
  const auth = authenticator({ verify: apiKeys({ keys }), streams: 'until-closed' })
  const listener = await listen(server, address, { auth })
  cleanUps.push(() => auth.close())
  cleanUps.push(() => server.close())
  cleanUps.push(() => listener.close())
  return { url: listener.address, auth }
}

const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

const post = (url: string, message: object, headers: Record<string, string>) =>
  fetch(url, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  })

async function endOf(response: Response): Promise<Promise<unknown>[]> {
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream',
  ])
  return [response.text()]
}

/** Opens a stream or connection; resolves to a list with the promise of its end. */
type Open = (url: string, key: string) => Promise<readonly Promise<unknown>[]>

const overHttp: Record<string, Open> = {
  'the stream of a session': async (url, key) => {
    const authorization = `Bearer ${key}`
    const clientInfo = { name: 'test', version: '1' }
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    const opened = await post(url, { method: 'initialize', params }, { authorization })
    await opened.text()
    const session = opened.headers.get('mcp-session-id') ?? ''
    const headers = { authorization, accept: 'text/event-stream', 'mcp-session-id': session }
    return endOf(await fetch(url, { headers }))
  },
  'a subscription': async (url, key) => {
    const params = { notifications: { toolsListChanged: true }, _meta }
    const method = 'subscriptions/listen'
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method }
    return endOf(
      await post(url, { method, params }, { authorization: `Bearer ${key}`, ...headers }),
    )
  },
  'the stream of 2024-11-05': async (url, key) =>
    endOf(
      await fetch(new URL('/sse', url), {
        headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
      }),
    ),
  'a WebSocket': async (url, key) => {
    const headers = { authorization: `Bearer ${key}` }
    const socket = new WebSocket(url.replace('http:', 'ws:'), { headers })
    cleanUps.push(() => socket.terminate())
    await once(socket, 'open')
    return [once(socket, 'close')]
  },
}

const overTcp: Open = async (url, key) => {
  const { hostname, port } = new URL(url)
  const socket = connectSocket(Number(port), hostname)
  cleanUps.push(() => socket.destroy())
  const params = { scheme: 'Bearer', credentials: key }
  const first = { jsonrpc: '2.0', id: 1, method: 'trunkline/authenticate', params }
  socket.write(`${JSON.stringify(first)}\n`)
  const [answer] = await once(socket, 'data')
  expect(JSON.parse(String(answer))).toMatchObject({ result: {} })
  return [once(socket, 'close')]
}

const all = [
  ...Object.entries(overHttp).map(([name, open]) => [name, undefined, open] as const),
  ['a socket', 'tcp://127.0.0.1:0', overTcp] as const,
]

const isOpen = (end: Promise<unknown> | undefined) =>
  Promise.race([end?.then(() => false), new Promise(done => setImmediate(() => done(true)))])

describe.each(all)('%s', (_, address, open) => {
  test.each<readonly [string, readonly ApiKeyRecord[]]>([
    ['is removed', [bob.record]],
    ['is disabled', [{ ...ada.record, disabled: true }, bob.record]],
  ])('ends when the key of its caller %s, and those of others stay', async (_name, next) => {
    const { source, change } = changingKeys()
    const { url } = await serve(source, address)
    const [[end], [other]] = await Promise.all([open(url, ada.key), open(url, bob.key)])
    change(next)
    await end
    expect(await isOpen(other)).toBe(true)
    other?.catch(() => {})
  })

  test('ends when the application forgets its caller', async () => {
    const { url, auth } = await serve(changingKeys().source, address)
    const [end] = await open(url, ada.key)
    auth.forget('key:ada')
    await end
    // The key is still good.
    const [again] = await open(url, ada.key)
    expect(await isOpen(again)).toBe(true)
    again?.catch(() => {})
  })
})

test('a change of the key file ends streams and WebSockets', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keys-'))
  cleanUps.push(() => rm(folder, { recursive: true }))
  const file = join(folder, 'keys.json')
  const write = (keys: readonly ApiKeyRecord[]) =>
    writeFile(file, JSON.stringify({ keys }), { mode: 0o600 })
  await write([ada.record, bob.record])
  const { url } = await serve(keyFile(file))
  const opened = await Promise.all(Object.values(overHttp).map(open => open(url, ada.key)))
  await write([bob.record])
  await Promise.all(opened.flat())
  // The file is checked so often that everything ends within a second.
  expect(limits.keyFileCheckMs.default).toBeLessThanOrEqual(500)
})
