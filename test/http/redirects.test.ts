import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createSocketServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../src/connect.ts'
import { deferred } from '../../src/util/promises.ts'
import { latest } from './requests.ts'

const secret = 'Bearer secret-of-this-origin'

/** Redirect targets on other origins. */
const elsewhere: readonly (readonly [string, (own: number, other: number) => string])[] = [
  ['another port', (_, other) => `http://127.0.0.1:${other}/elsewhere`],
  ['another host', own => `http://localhost:${own}/elsewhere`],
  ['another scheme', own => `https://127.0.0.1:${own}/elsewhere`],
  ['a user and a password', own => `http://me:word@127.0.0.1:${own}/elsewhere`],
  ['a user alone', own => `http://me@127.0.0.1:${own}/elsewhere`],
  ['another host without a scheme', (_, other) => `//127.0.0.1:${other}/elsewhere`],
  ['another host behind backslashes', (_, other) => `\\\\127.0.0.1:${other}\\elsewhere`],
]

const statuses = [301, 302, 303, 307, 308]

/** One request as the origin received it: its purpose and its path. */
interface Seen {
  readonly what: string
  readonly path: string
  readonly isSecret: boolean
}

/** An origin that serves sessions, and redirects one kind of request. */
interface Origin {
  readonly port: number
  readonly seen: Seen[]
  /** The request that is redirected, and its target. */
  trap: { readonly what: string; readonly status: number; readonly location: string } | undefined
}

const initialized = {
  protocolVersion: latest,
  capabilities: { tools: {} },
  serverInfo: { name: 'origin', version: '1' },
}

async function whatOf(request: IncomingMessage): Promise<{ what: string; id: unknown }> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  if (request.method !== 'POST') return { what: request.method ?? '', id: undefined }
  const { method, id } = JSON.parse(text) as { method: string; id?: unknown }
  return { what: method, id }
}

function answered(response: ServerResponse, id: unknown, what: string): void {
  if (id === undefined) response.writeHead(202).end()
  else {
    const result = what === 'initialize' ? initialized : { content: [] }
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'abc' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  }
}

/** Serves a session revision on `/mcp`, and HTTP+SSE of the oldest revision on `/sse`. */
function originServer(origin: Omit<Origin, 'port'>) {
  let stream: ServerResponse | undefined
  return createServer((request, response) => {
    void whatOf(request).then(({ what, id }) => {
      const path = request.url ?? ''
      origin.seen.push({ what, path, isSecret: request.headers.authorization === secret })
      const { trap } = origin
      const isHttpSse = path === '/sse' || path === '/messages'
      const event = (name: string, data: string) => `event: ${name}\ndata: ${data}\n\n`
      if (trap?.what === `${isHttpSse ? 'sse ' : ''}${what}` && path !== '/elsewhere') {
        response.writeHead(trap.status, { location: trap.location }).end()
      } else if (path === '/sse' && what === 'GET') {
        stream = response
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(event('endpoint', '/messages'))
      } else if (path === '/messages') {
        response.writeHead(202).end()
        const result = { ...initialized, protocolVersion: '2024-11-05' }
        if (id === undefined) return
        stream?.write(event('message', JSON.stringify({ jsonrpc: '2.0', id, result })))
      } else if (path === '/sse') response.writeHead(405).end()
      else if (what === 'GET' || what === 'server/discover') response.writeHead(405).end()
      else answered(response, id, what)
    })
  })
}

/** Each request of a client that is redirected. */
const rows: readonly (readonly [string, string, 'auto' | 'session', string])[] = [
  ['the first request', 'server/discover', 'auto', '/mcp'],
  ['an initialize request', 'initialize', 'session', '/mcp'],
  ['a notification', 'notifications/initialized', 'session', '/mcp'],
  ['the stream of a session', 'GET', 'session', '/mcp'],
  ['a call', 'tools/call', 'session', '/mcp'],
  ['the DELETE of a session', 'DELETE', 'session', '/mcp'],
  ['an HTTP+SSE stream', 'sse GET', 'session', '/sse'],
  ['an HTTP+SSE message', 'sse initialize', 'session', '/sse'],
]

describe('SEC-12: a redirect to another origin', () => {
  const origin: Omit<Origin, 'port'> = { seen: [], trap: undefined }
  const server = originServer(origin)
  // The client must not even connect to it.
  let strangers = 0
  const stranger = createSocketServer(socket => {
    strangers++
    socket.destroy()
  })
  let own = 0
  let other = 0
  beforeAll(async () => {
    for (const one of [server, stranger]) {
      await new Promise<void>(resolve => void one.listen(0, '127.0.0.1', resolve))
    }
    own = (server.address() as AddressInfo).port
    other = (stranger.address() as AddressInfo).port
  })
  afterAll(async () => {
    server.closeAllConnections()
    await Promise.all([server, stranger].map(one => new Promise(done => void one.close(done))))
  })

  /** Runs a whole conversation, and returns its errors. */
  async function converse(era: 'auto' | 'session', path: string): Promise<string[]> {
    const errors: string[] = []
    const failed = deferred<void>()
    const onError = (error: unknown): void => {
      errors.push(messageOf(error))
      failed.resolve()
    }
    try {
      const client = await connect(`http://127.0.0.1:${own}${path}`, {
        era,
        onError,
        reconnect: false,
        // A cached version would skip the request.
        versionCache: { key: `${Math.random()}`, store: new Map() },
        headers: { authorization: secret },
        http: { retry: { attempts: 1, baseMs: 1, maxMs: 1 } },
      })
      await client.call('x').catch(onError)
      // No call waits for the stream, so the test does.
      if (origin.trap?.what === 'GET') await failed.promise
      await client.close()
    } catch (error) {
      onError(error)
    }
    return errors
  }

  describe.each(rows)('as the response to %s', (_, what, era, path) => {
    test.each(elsewhere)('with %s is rejected, and nothing is sent there', async (_, locate) => {
      for (const status of statuses) {
        origin.seen.length = 0
        origin.trap = { what, status, location: locate(own, other) }
        const errors = await converse(era, path)
        const asked = origin.seen.filter(
          one => `${isHttpSse(one) ? 'sse ' : ''}${one.what}` === what,
        )
        // It was redirected, ...
        expect([status, asked.length > 0]).toEqual([status, true])
        // ... the client did not follow, ...
        expect(strangers).toBe(0)
        expect(origin.seen.map(one => one.path)).not.toContain('/elsewhere')
        // ... and the caller got the reason. No caller waits for the end of a session.
        if (what !== 'DELETE') expect(errors.join('; ')).toMatch(/was redirected .*not followed/)
      }
    })
  })

  test('is distinguished from one to the same origin, which is followed with all headers', async () => {
    origin.seen.length = 0
    origin.trap = { what: 'tools/call', status: 307, location: '/elsewhere' }
    expect(await converse('session', '/mcp')).toEqual([])
    expect(origin.seen).toContainEqual({ what: 'tools/call', path: '/elsewhere', isSecret: true })
  })
})

function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.message} (${messageOf(error.cause)})` : ''
}

function isHttpSse({ path }: Seen): boolean {
  return path === '/sse' || path === '/messages'
}
