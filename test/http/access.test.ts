import { describe, expect, test } from 'vitest'
import { proves } from '../requirements.ts'
import type { Asking, Headers } from './raw.ts'
import { ask, Wire, written } from './raw.ts'
import { opening, speaking } from './requests.ts'
import { type Served, serve } from './served.ts'

/** Every entry point. All of them must apply the same access rules. */
const doors: Readonly<Record<string, Asking>> = {
  'a stateless POST': speaking('tools/list'),
  'a POST that opens a session': opening(),
  'the stream of a session': { method: 'GET', headers: { 'mcp-session-id': 'x' } },
  'the end of a session': { method: 'DELETE', headers: { 'mcp-session-id': 'x' } },
  'the stream of the oldest revision': { method: 'GET', path: '/sse' },
  'a message of the oldest revision': { path: '/messages?sessionId=x', body: '{}' },
  'a CORS preflight': { method: 'OPTIONS' },
  'an unknown path': { method: 'GET', path: '/metrics' },
  'a WebSocket': {
    method: 'GET',
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    },
  },
}

function changed(door: Asking, headers: Headers, path = door.path): Asking {
  return { ...door, path, headers: { ...door.headers, ...headers } }
}

const foreign: readonly (readonly [string, (port: number) => Headers])[] = [
  ['another host', () => ({ host: 'evil.test' })],
  ['another host at our port', port => ({ host: `evil.test:${port}` })],
  ['our address as a part of another name', port => ({ host: `127.0.0.1.evil.test:${port}` })],
  ['our name as a part of another name', port => ({ host: `localhost.evil.test:${port}` })],
  ['our IPv6 address with a tail', port => ({ host: `[::1].x:${port}` })],
  ['a user in the host', port => ({ host: `me@localhost:${port}` })],
  ['a dot behind the host', port => ({ host: `localhost.:${port}` })],
  ['another port', port => ({ host: `localhost:${port + 1}` })],
  ['no port', () => ({ host: 'localhost' })],
  ['a path in the host', port => ({ host: `localhost:${port}/?x=` })],
  ['a fragment in the host', port => ({ host: `localhost:${port}/#` })],
  ['an empty host', () => ({ host: '' })],
  ['another origin', () => ({ origin: 'https://evil.test' })],
  ['no origin in particular', () => ({ origin: 'null' })],
  ['our origin with another scheme', port => ({ origin: `https://localhost:${port}` })],
  ['our origin with a tail', port => ({ origin: `http://localhost:${port}.evil.test` })],
  ['two origins', port => ({ origin: [`http://localhost:${port}`, 'https://evil.test'] })],
]

describe.each(Object.entries(doors))('%s', (_, door) => {
  test('rejects other hosts and origins before it checks anything else', async () => {
    proves('H2', 'H2b')
    const on = await serve()
    for (const [what, headers] of foreign) {
      const { status } = await on.ask(changed(door, headers(on.port)))
      expect([what, status]).toEqual([what, 403])
    }
    expect(await failureCount(on)).toBe(0)
  })

  test('rejects a request with two hosts, or with a host in its request line', async () => {
    const on = await serve()
    const own = `127.0.0.1:${on.port}`
    // Node itself rejects two Host headers, in either order.
    const twice = await on.ask(changed(door, { host: [own, 'evil.test'] }))
    expect([400, 403]).toContain(twice.status)
    const path = door.path ?? '/mcp'
    const absolute = await on.ask(changed(door, {}, `http://evil.test${path}`))
    expect(absolute.status).toBe(403)
    const ours = await on.ask(changed(door, {}, `http://${own}${path}`))
    expect(ours.status).toBe(403)
  })

  test('rejects pages of other sites without an Origin header', async () => {
    const on = await serve()
    const { status } = await on.ask(changed(door, { 'sec-fetch-site': 'cross-site' }))
    expect(status).toBe(403)
  })

  test('accepts this machine under each of its names, and an allowed page', async () => {
    const on = await serve({ allowedOrigins: ['https://app.example'] })
    const allowed: Headers[] = [
      { host: `localhost:${on.port}` },
      { host: `LOCALHOST:${on.port}` },
      { host: `[::1]:${on.port}` },
      { origin: `http://localhost:${on.port}`, 'sec-fetch-site': 'same-origin' },
      { origin: 'https://app.example', 'sec-fetch-site': 'cross-site' },
    ]
    for (const headers of allowed) {
      const wire = await Wire.open(on.port)
      const { status } = await wire.send(written(on.port, changed(door, headers))).begin()
      wire.cut()
      expect([headers, status]).not.toEqual([headers, 403])
    }
  })
})

describe('the path of an entry point', () => {
  const paths = [
    '/mcp/',
    '//mcp',
    '/%6dcp',
    '/mcp%2f',
    '/x/../mcp',
    '/x/%2e%2e/mcp',
    '/mcp;x',
    '/MCP',
    '/',
    '/mcp%00',
  ]

  test.each(paths)('%s is a different path, and is not served', async path => {
    const on = await serve()
    expect((await on.ask(changed(speaking('tools/list'), {}, path))).status).toBe(404)
    const upgrade = changed(doors['a WebSocket'] ?? {}, {}, path)
    expect((await on.ask(upgrade)).status).toBe(404)
  })

  test('a query changes nothing', async () => {
    const on = await serve()
    expect((await on.ask(changed(speaking('tools/list'), {}, '/mcp?x=/../y'))).status).toBe(200)
  })

  test('files of this machine are not served under any path', async () => {
    const on = await serve()
    const names = [
      '/../package.json',
      '/%2e%2e/package.json',
      '/%252e%252e/package.json',
      '/..%5cpackage.json',
      '/sse/../../etc/passwd',
      '/messages/..%2f..%2fpackage.json',
    ]
    for (const path of names) {
      const { status, text } = await on.ask({ method: 'GET', path })
      expect([path, status]).toEqual([path, 404])
      expect(text).not.toContain('trunkline')
    }
  })
})

describe('the media type of a body', () => {
  const refused: readonly (readonly [string, string | readonly string[] | undefined])[] = [
    ['plain text', 'text/plain'],
    ['a form', 'application/x-www-form-urlencoded'],
    ['a form with parts', 'multipart/form-data; boundary=x'],
    ['none', undefined],
    ['an empty one', ''],
    ['JSON and a tab', 'application/json\tx'],
    ['JSON and more', 'application/json garbage'],
    ['JSON and a comma', 'application/json, text/plain'],
    ['JSON as a parameter', 'text/plain; x=application/json'],
    ['something like JSON', 'application/jsonx'],
    ['a kind of JSON', 'application/vnd.api+json'],
    ['another character set', 'application/json; charset=utf-16'],
    ['two of them', ['text/plain', 'application/json']],
    ['two character sets', 'application/json; charset=utf-8; charset=utf-16'],
  ]
  const sessions = ['a stateless POST', 'a message of the oldest revision'] as const

  test.each(refused)('is rejected with 415: %s', async (_, type) => {
    const on = await serve()
    for (const door of sessions) {
      const { status } = await on.ask(changed(doors[door] ?? {}, { 'content-type': type }))
      expect([door, status]).toEqual([door, 415])
    }
  })

  test('is taken from the first of two headers, as a reverse proxy does', async () => {
    const on = await serve()
    const two = { 'content-type': ['application/json', 'text/plain'] }
    expect((await on.ask(changed(speaking('tools/list'), two))).status).toBe(200)
  })

  test.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
  ])('is taken: %s', async type => {
    const on = await serve()
    const { status } = await on.ask(changed(speaking('tools/list'), { 'content-type': type }))
    expect(status).toBe(200)
  })

  test.each(['gzip', 'br', 'deflate', 'x', 'identity, gzip', 'GZIP', 'zstd'])(
    'does not matter if the body is compressed: %s',
    async encoding => {
      const on = await serve()
      for (const door of sessions) {
        const { status } = await on.ask(
          changed(doors[door] ?? {}, { 'content-encoding': encoding }),
        )
        expect([door, status]).toEqual([door, 415])
      }
    },
  )
})

describe('the Accept header', () => {
  const rows: readonly (readonly [string, string | undefined, number])[] = [
    ['anything', '*/*', 200],
    ['nothing in particular', undefined, 200],
    ['JSON', 'application/json', 200],
    ['events', 'text/event-stream', 200],
    ['both, in capitals and with weights', 'Application/JSON;q=0.1, TEXT/EVENT-STREAM;q=1', 200],
    ['one of a list of ten thousand letters', `${'a/b,'.repeat(2500)}application/json`, 200],
    ['pictures', 'image/*', 406],
    ['neither, by weight', 'application/json;q=0, text/event-stream;q=0.000', 406],
    ['nonsense', ';;,,=', 406],
  ]

  test.each(rows)('%s', async (_, accept, status) => {
    const on = await serve()
    expect((await on.ask(changed(speaking('tools/list'), { accept }))).status).toBe(status)
  })

  test('a client that accepts only events gets the result as an event', async () => {
    proves('N6d')
    const on = await serve()
    const reply = await on.ask(changed(speaking('tools/list'), { accept: 'text/event-stream' }))
    expect(reply.events.map(data => JSON.parse(data).id)).toEqual([1])
    expect(reply.headers.get('x-accel-buffering')).toBe('no')
  })

  test('a stream is rejected for a client that does not accept events', async () => {
    const on = await serve()
    const headers = { accept: 'application/json', 'mcp-session-id': await on.session() }
    expect((await on.ask({ method: 'GET', headers })).status).toBe(406)
    expect(
      (await on.ask({ method: 'GET', path: '/sse', headers: { accept: 'text/html' } })).status,
    ).toBe(406)
  })
})

describe('a page', () => {
  const page = { origin: 'https://app.example' }

  test('that is allowed gets CORS headers, but never for credentials', async () => {
    const on = await serve({ allowedOrigins: [page.origin] })
    for (const asking of [
      speaking('tools/list', {}, { headers: page }),
      { method: 'OPTIONS', headers: page },
    ]) {
      const { headers } = await on.ask(asking)
      expect(headers.get('access-control-allow-origin')).toBe(page.origin)
      expect(headers.get('vary')).toBe('origin')
      expect(headers.has('access-control-allow-credentials')).toBe(false)
    }
  })

  test('that is not allowed gets none', async () => {
    const on = await serve()
    const { status, headers } = await on.ask({ method: 'OPTIONS', headers: page })
    expect([status, headers.has('access-control-allow-origin')]).toEqual([403, false])
  })

  test('other clients get no CORS headers', async () => {
    const on = await serve({ allowedOrigins: [page.origin] })
    const { headers } = await on.ask(speaking('tools/list'))
    expect([...headers.keys()].filter(name => name.startsWith('access-control'))).toEqual([])
  })
})

test('no response reveals the implementation', async () => {
  const on = await serve()
  for (const asking of [speaking('tools/list'), { body: '{' }, { method: 'PUT' }]) {
    const { headers } = await ask(on.port, written(on.port, asking))
    expect(headers.has('server')).toBe(false)
    expect(headers.has('x-powered-by')).toBe(false)
  }
})

/** Returns the number of reported failures, apart from rejected WebSockets. */
async function failureCount(on: Served): Promise<number> {
  await on.isAlive()
  return on.failures.filter(failure => !/refused a WebSocket/.test(String(failure))).length
}
