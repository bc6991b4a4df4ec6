import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Asking, ask, type Reply, Wire, written } from '../../test/http/raw.ts'
import { inSession, opening, speaking } from '../../test/http/requests.ts'
import { proves } from '../../test/requirements.ts'
import { stage } from '../../test/support/http-server.ts'
import { deferred } from '../util/promises.ts'
import { fetchHandler, type HttpHandlerOptions, nodeHandler } from './handlers.ts'

type Listener = (request: IncomingMessage, response: ServerResponse) => void

async function bound(listener: Listener): Promise<number> {
  const http = createServer(listener)
  await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void http.close().closeAllConnections())
  const address = http.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

function request(
  { method = 'POST', path = '/', headers = {}, body }: Asking,
  init?: RequestInit,
): Request {
  const defaults = { host: 'localhost:3000', 'content-type': 'application/json' }
  const all = Object.entries({ ...defaults, ...headers }).filter(([, value]) => value !== undefined)
  return new Request(`http://localhost:3000${path}`, {
    method,
    headers: all.map(([name, value]): [string, string] => [name, String(value)]),
    body: method === 'POST' ? Buffer.from(body ?? '') : undefined,
    ...init,
  })
}

describe('a handler in an HTTP server of the application', () => {
  test('serves any path it is mounted on', async () => {
    const handler = nodeHandler(stage().server)
    const port = await bound(handler)
    const { status } = await ask(port, written(port, { ...speaking('tools/list'), path: '/a/b' }))
    expect(status).toBe(200)
  })

  test('takes the caller from the request, and finds no session of another', async () => {
    proves('H16')
    const handler = nodeHandler(stage().server)
    const port = await bound((incoming, response) => {
      const principal = { id: String(incoming.headers['x-user']) }
      handler(Object.assign(incoming, { principal }), response)
    })
    const as = (user: string, { headers, ...asking }: Asking): Promise<Reply> =>
      ask(port, written(port, { ...asking, headers: { ...headers, 'x-user': user } }))
    const id = (await as('a', opening())).headers.get('mcp-session-id')
    expect((await as('a', inSession(id, 'ping', {}, 1))).status).toBe(200)
    const theirs: Asking[] = [
      inSession(id, 'ping', {}, 1),
      { method: 'GET', headers: { 'mcp-session-id': id } },
      { method: 'DELETE', headers: { 'mcp-session-id': id } },
    ]
    const never = theirs.map(asking => ({ ...asking, headers: { 'mcp-session-id': 'never' } }))
    for (const [i, asking] of theirs.entries()) {
      const [taken, unknown] = [await as('b', asking), await as('b', never[i] ?? {})]
      expect([taken.status, taken.text]).toEqual([404, unknown.text])
    }
    expect((await as('a', inSession(id, 'ping', {}, 2))).status).toBe(200)
  })

  test('reports that a body parser has read the body, and accepts raw bytes of it', async () => {
    const failures: unknown[] = []
    const handler = nodeHandler(stage().server, { onError: error => failures.push(error) })
    const port = await bound((incoming, response) => {
      const chunks: Buffer[] = []
      incoming.on('data', chunk => chunks.push(chunk))
      incoming.on('end', () => {
        const bytes = Buffer.concat(chunks)
        const bodies = new Map<unknown, unknown>([
          ['/raw', bytes],
          ['/text', bytes.toString()],
          ['/parsed', JSON.parse(bytes.toString())],
        ])
        // Runs after everything else that waited for the end.
        const body = bodies.get(incoming.url)
        setImmediate(() => handler(Object.assign(incoming, { body }), response))
      })
    })
    const at = (path: string) => ask(port, written(port, { ...speaking('tools/list'), path }))
    expect((await at('/raw')).status).toBe(200)
    expect((await at('/text')).status).toBe(200)
    const parsed = await at('/parsed')
    expect([parsed.status, parsed.json.error.message]).toEqual([500, 'Internal error'])
    expect(String(failures)).toContain('ahead of body parsers')
  })

  test('closes in an orderly way, and leaves the HTTP server open', async () => {
    const on = stage()
    const handler = nodeHandler(on.server)
    const port = await bound(handler)
    const call = speaking('tools/call', { name: 'wait', arguments: { word: 'x' } })
    const waiting = ask(port, written(port, call))
    const listening = await Wire.open(port)
    const filter = { notifications: { toolsListChanged: true } }
    await listening.send(written(port, speaking('subscriptions/listen', filter))).begin()
    await listening.event()
    const closing = Promise.all([handler.close(), handler.close()])
    on.gate('x').resolve()
    expect((await waiting).json.result.content[0].text).toBe('x')
    expect(JSON.parse((await listening.event()) ?? '').result.resultType).toBe('complete')
    await closing
    expect((await ask(port, written(port, speaking('tools/list')))).status).toBe(503)
  })
})

describe('a handler of the fetch standard', () => {
  test.each([
    ['another name', { host: 'evil.test' }],
    ['another name at our port', { host: 'evil.test:3000' }],
    ['a foreign page', { origin: 'https://evil.test' }],
    ['a page of another site', { 'sec-fetch-site': 'cross-site' }],
  ])('rejects %s, though it cannot know where it is bound', async (_, headers) => {
    const handler = fetchHandler(stage().server)
    const response = await handler(request(speaking('tools/list', {}, { headers })))
    expect(response.status).toBe(403)
  })

  test('accepts listed host names', async () => {
    const handler = fetchHandler(stage().server, { allowedHosts: ['api.example'] })
    const { headers } = speaking('tools/list')
    const asking = { ...speaking('tools/list'), headers: { ...headers, host: 'api.example' } }
    expect((await handler(request(asking))).status).toBe(200)
  })

  test.each([
    ['2026-07-28', undefined],
    ['2025-11-25', undefined],
    ['2025-06-18', null],
    [undefined, null],
  ])('answers a body that is not JSON, with version %s, with the id %s', async (version, id) => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
    }
    const request = new Request('http://localhost/mcp', { method: 'POST', headers, body: '{' })
    const response = await fetchHandler(stage().server)(request)
    const body = (await response.json()) as { id?: unknown; error: object }
    expect([response.status, body.id]).toEqual([400, id])
    expect(body.error).toMatchObject({ code: -32700 })
  })

  test('measures the body itself, whatever its header says', async () => {
    const handler = fetchHandler(stage().server, { decode: { maxBytes: 100 } })
    let pulled = 0
    const body = new ReadableStream({
      pull: controller => {
        pulled++
        controller.enqueue(new Uint8Array(60))
      },
    })
    const init = { body, duplex: 'half' } as RequestInit
    expect((await handler(request(speaking('tools/list'), init))).status).toBe(413)
    expect(pulled).toBeLessThan(10)
  })

  test('a body that breaks off is not an error', async () => {
    const handler = fetchHandler(stage().server)
    const body = new ReadableStream({
      start: controller => controller.error(new Error('gone')),
    })
    const answer = handler(request(speaking('tools/list'), { body, duplex: 'half' } as RequestInit))
    // There is no response to send, because the client is gone.
    expect(await Promise.race([answer, Promise.resolve('waits')])).toBe('waits')
  })

  test('a client that disconnects cancels the request', async () => {
    const on = stage()
    const handler = fetchHandler(on.server)
    const controller = new AbortController()
    const begun = deferred<void>()
    on.server.use(next => (message, exchange) => {
      begun.resolve()
      return next(message, exchange)
    })
    const call = speaking('tools/call', { name: 'wait', arguments: { word: 'x' } })
    void handler(request(call, { signal: controller.signal }))
    await begun.promise
    await on.settle()
    controller.abort()
    expect(on.aborted).toEqual(['x'])
    on.gate('x').resolve()
    const progress = { name: 'work', arguments: { word: 'y' } }
    const meta = { progressToken: 1 }
    const response = await handler(request(speaking('tools/call', progress, { meta })))
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    on.gate('y').resolve()
    expect((await handler(request(speaking('tools/list')))).status).toBe(200)
  })

  test.each([
    ['too much waits', { maxOutboundBytes: 500_000, stallMs: 60_000 }],
    ['nothing is taken for too long', { highWaterBytes: 1000, stallMs: 20 }],
  ] satisfies [string, HttpHandlerOptions][])(
    'cuts a reader that has stopped when %s',
    async (_, options) => {
      const { server } = stage()
      const aborted = new Promise<void>(resolve => {
        server.tool('flood', {}, async (_input, ctx) => {
          ctx.signal.addEventListener('abort', () => resolve())
          for (let i = 0; i < 20; i++) ctx.log('error', 'x'.repeat(65_536))
          await aborted
          return ''
        })
      })
      const handler = fetchHandler(server, options)
      const meta = { 'io.modelcontextprotocol/logLevel': 'debug' }
      const response = await handler(request(speaking('tools/call', { name: 'flood' }, { meta })))
      await aborted
      await expect(response.text()).rejects.toThrow('too slowly')
    },
  )

  test('passes the caller on, where it is known', async () => {
    const handler = fetchHandler(stage().server)
    const as = (id: string, asking: Asking) => handler(request(asking), { principal: { id } })
    const session = (await as('a', opening())).headers.get('mcp-session-id') ?? ''
    expect((await as('a', inSession(session, 'ping', {}, 1))).status).toBe(200)
    expect((await as('b', inSession(session, 'ping', {}, 1))).status).toBe(404)
    await handler.close()
  })
})

describe('invalid options', () => {
  const { server } = stage()
  const makers = [
    ['nodeHandler', (options: unknown) => nodeHandler(server, options as HttpHandlerOptions)],
    ['fetchHandler', (options: unknown) => fetchHandler(server, options as HttpHandlerOptions)],
  ] as const

  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [null, /options must be an object \(got null\)$/],
    [{ maxInFlight: 0 }, /"maxInFlight" must be a number ≥ 1 \(got 0\)$/],
    [{ keepAliveMs: '15s' }, /"keepAliveMs" must be a number from 0 to \d+ \(got "15s"\)$/],
    [{ sessions: 5 }, /"sessions" must be an object of options \(got 5\)$/],
    [{ sessions: { idleMs: -1 } }, /"sessions.idleMs" must be a number from 0 to \d+ \(got -1\)$/],
    [{ cors: true }, /"cors" must be an object of options or false \(got true\)$/],
    [{ allowedOrigin: [] }, /unknown option "allowedOrigin"; did you mean "allowedOrigins"\?$/],
    [
      { sessions: { idelMs: 1 } },
      /unknown option "sessions.idelMs"; did you mean "sessions.idleMs"\?$/,
    ],
    [{ tls: {} }, /unknown option "tls"; known options: .*path, decode, /],
    [{ path: 'mcp' }, /"path" must be a path such as "\/mcp" \(got "mcp"\)$/],
    [{ onError: true }, /"onError" must be a function \(got true\)$/],
  ]

  test.each(makers)('are rejected by %s, by their names', (_, make) => {
    for (const [options, words] of wrong) {
      expect(() => make(options)).toThrow(TypeError)
      expect(() => make(options)).toThrow(words)
    }
    const right = { sessions: { events: { maxBytes: 1 } }, cors: false, sse: undefined, path: '/a' }
    expect(() => make(right)).not.toThrow()
  })

  test('are distinguished from an invalid server', () => {
    // The check: an invalid argument is the subject of this test.
    expect(() => nodeHandler({} as typeof server)).toThrow(
      'nodeHandler() expects a Server or a Router, got an object',
    )
    expect(() => fetchHandler(undefined as unknown as typeof server)).toThrow(
      'fetchHandler() expects a Server or a Router, got undefined',
    )
  })
})
