import { describe, expect, test } from 'vitest'
import { type Asking, ask, type Reply, written } from './raw.ts'
import { calling, inSession, opening, speaking } from './requests.ts'
import { type Served, serve } from './served.ts'

const MiB = 1024 * 1024

describe('a request that is not HTTP', () => {
  const good = speaking('tools/list')
  const rows: readonly (readonly [string, Asking | string, readonly number[]])[] = [
    ['a negative length', { ...good, headers: { ...good.headers, 'content-length': '-1' } }, [400]],
    [
      'a length that is not a number',
      { ...good, headers: { ...good.headers, 'content-length': '1x' } },
      [400],
    ],
    [
      'two lengths',
      { ...good, headers: { ...good.headers, 'content-length': ['10', '11'] } },
      [400],
    ],
    [
      'a length and chunks',
      { ...good, headers: { ...good.headers, 'transfer-encoding': 'chunked' } },
      [400],
    ],
    [
      'an unknown transfer encoding',
      {
        ...good,
        headers: { ...good.headers, 'content-length': undefined, 'transfer-encoding': 'gzip' },
      },
      [400],
    ],
    ['a line break in a header', { ...good, headers: { ...good.headers, x: 'a\rb' } }, [400]],
    ['a NUL in a header', { ...good, headers: { ...good.headers, x: 'a\0b' } }, [400]],
    [
      'more than sixteen KiB of headers',
      { ...good, headers: { ...good.headers, x: 'x'.repeat(17_000) } },
      [431],
    ],
    ['the opening of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400, 403, 505]],
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n\r\n', [400]],
    ['JSON alone', '{"jsonrpc":"2.0","id":1,"method":"ping"}\n\n', [400]],
    ['an unknown verb', 'BREW /mcp HTTP/1.1\r\nHost: x\r\n\r\n', [400]],
    ['a tunnel', 'CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n', [400, 403, 0]],
    ['HTTP/1.0 without a host', 'GET /mcp HTTP/1.0\r\n\r\n', [403]],
    ['HTTP/1.1 without a host', 'GET /mcp HTTP/1.1\r\n\r\n', [400, 403]],
  ]

  test.each(rows)('%s is rejected', async (_, asking, statuses) => {
    const on = await serve()
    const bytes = typeof asking === 'string' ? asking : written(on.port, asking)
    const reply = await ask(on.port, bytes).catch(() => undefined)
    expect(statuses).toContain(reply?.status ?? 0)
    await on.isAlive()
  })

  test('is not parsed after a body longer than its Content-Length', async () => {
    const on = await serve()
    const { headers, body = '' } = speaking('tools/list')
    const wire = await on.open({
      headers: { ...headers, 'content-length': String(body.length - 5) },
      body,
    })
    expect((await wire.reply()).status).toBe(400)
    await wire.ended
  })
})

describe('the headers of a request', () => {
  test('may be at most a hundred', async () => {
    const on = await serve()
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, '1']))
    const asked = speaking('tools/list')
    const own = Object.values(asked.headers ?? {}).filter(value => value !== undefined).length + 4
    const few = await on.ask({ ...asked, headers: { ...asked.headers, ...many(100 - own) } })
    const more = await on.ask({ ...asked, headers: { ...asked.headers, ...many(101 - own) } })
    expect([few.status, more.status]).toEqual([200, 431])
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', ...many(100) }
    expect((await on.ask({ method: 'GET', headers: upgrade })).status).toBe(431)
    // Beyond the limit of Node, which would silently drop an origin.
    const empty = Array.from({ length: 2100 }, () => ['a', ''] as const)
    const text = empty.map(([name, value]) => `${name}:${value}\r\n`).join('')
    const hidden = `GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:${on.port}\r\n${text}Origin: https://evil.test\r\n\r\n`
    expect((await ask(on.port, hidden)).status).toBe(431)
  })

  test('may have names of Object.prototype', async () => {
    const on = await serve()
    const headers = '__proto__: x\r\nconstructor: y\r\ntoString: z\r\n'
    const text = written(on.port, speaking('tools/list'))
      .toString()
      .replace('\r\n', `\r\n${headers}`)
    expect((await ask(on.port, text)).status).toBe(200)
  })

  test('may have Expect: 100-continue', async () => {
    const on = await serve()
    const asked = speaking('tools/list')
    const reply = await on.ask({ ...asked, headers: { ...asked.headers, expect: '100-continue' } })
    expect(reply.status).toBe(200)
  })
})

describe('a body', () => {
  const maxBytes = 4 * MiB
  const limited = { decode: { maxBytes } }

  test('may have exactly the allowed size, and no byte more', async () => {
    const on = await serve(limited)
    const { body = '', headers } = speaking('tools/list')
    const padded = (size: number) => `${body}${' '.repeat(size - body.length)}`
    expect((await on.ask({ headers, body: padded(maxBytes) })).status).toBe(200)
    const over = await on.ask({ headers, body: padded(maxBytes + 1) })
    expect([over.status, over.json.error.code, over.headers.get('connection')]).toEqual([
      413,
      -32012,
      'close',
    ])
  })

  test('with a Content-Length over the limit is rejected before it arrives', async () => {
    const on = await serve(limited)
    const headers = { ...speaking('tools/list').headers, 'content-length': String(maxBytes + 1) }
    const wire = await on.open({ headers, body: '' })
    expect((await wire.reply()).status).toBe(413)
    await wire.ended
  })

  test('in chunks is counted as it arrives', async () => {
    const on = await serve(limited)
    const headers = {
      ...speaking('tools/list').headers,
      'content-length': undefined,
      'transfer-encoding': 'chunked',
    }
    const wire = await on.open({ headers, body: '' })
    const chunk = `${(MiB).toString(16)}\r\n${' '.repeat(MiB)}\r\n`
    for (let i = 0; i < 5; i++) wire.send(chunk)
    const reply = await wire.reply()
    expect([reply.status, reply.json.error.code]).toEqual([413, -32012])
    await wire.ended
    await on.isAlive()
  })

  test('in chunks may have extensions and trailers', async () => {
    const on = await serve()
    const { headers, body = '' } = speaking('tools/list')
    const chunked = { ...headers, 'content-length': undefined, 'transfer-encoding': 'chunked' }
    const half = Math.floor(body.length / 2)
    const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)};a=b\r\n${text}\r\n`
    const wire = await on.open({ headers: chunked, body: '' })
    wire
      .send(chunk(`${body.slice(0, half)}`))
      .send(`${chunk(`${body.slice(half)}`)}0\r\nX-Trailer: 1\r\n\r\n`)
    expect((await wire.reply()).status).toBe(200)
  })

  test.each(['ffffffffffffffff\r\n', '-1\r\n', 'zz\r\n', '10000000000000000\r\n'])(
    'with a chunk of the size %j is rejected',
    async size => {
      const on = await serve({ http: { requestTimeoutMs: 200 } })
      const headers = {
        ...speaking('tools/list').headers,
        'content-length': undefined,
        'transfer-encoding': 'chunked',
      }
      const wire = await on.open({ headers, body: '' })
      const statuses = wire
        .send(size)
        .reply()
        .then(
          ({ status }) => status,
          () => 400,
        )
      const status = await Promise.race([statuses, wire.ended.then(() => 400)])
      wire.cut()
      expect([400, 408]).toContain(status)
      await on.isAlive()
    },
  )

  const bad: readonly (readonly [string, string | Uint8Array, number])[] = [
    ['nothing', '', -32700],
    ['space', ' \n\t', -32700],
    ['a mark of the byte order', '\uFEFF{}', -32700],
    ['UTF-16', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}', 'utf16le'), -32700],
    ['what is no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), -32700],
    ['two documents', '{}{}', -32700],
    ['a number', '1', -32600],
    ['null', 'null', -32600],
    ['an empty batch', '[]', -32600],
    [
      'a batch of a hundred and one',
      `[${Array(101).fill('{"jsonrpc":"2.0","method":"x"}')}]`,
      -32600,
    ],
    ['a million empty objects', `[${'{},'.repeat(999_999)}{}]`, -32600],
    ['two million brackets', `${'['.repeat(2 * MiB)}${']'.repeat(2 * MiB)}`, -32600],
    ['brackets that are not closed', '['.repeat(100_000), -32600],
    ['objects in objects', `${'{"a":'.repeat(500_000)}1${'}'.repeat(500_000)}`, -32600],
    [
      'four hundred thousand keys',
      `{${Array.from({ length: 300_000 }, (_, i) => `"k${i}":1`)}}`,
      -32600,
    ],
    [
      'a million numbers',
      `{"jsonrpc":"2.0","id":1,"method":"x","params":[${'1,'.repeat(1_000_000)}1]}`,
      -32600,
    ],
    ['a key in another case', '{"jsonrpc":"2.0","id":1,"Method":"ping"}', -32600],
    ['a key with a long s', '{"jsonrpc":"2.0","id":1,"method":"ping","paramſ":{}}', -32000],
    ['a key twice', '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}', -32600],
    [
      'a key twice, once escaped',
      '{"jsonrpc":"2.0","id":1,"method":"ping","\\u006dethod":"x"}',
      -32600,
    ],
    ['a broken id', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600],
    ['an id that cannot be held', '{"jsonrpc":"2.0","id":1e400,"method":"ping"}', -32600],
    ['a response without a pending request', '{"jsonrpc":"2.0","id":1,"result":{}}', -32600],
  ]

  test.each(bad)('of %s is rejected with a message', async (_, body, code) => {
    const on = await serve({ decode: { maxBytes: 8 * MiB } })
    const reply = await on.ask({ body })
    expect([reply.status, reply.json.error.code]).toEqual([400, code])
    await on.isAlive()
  })

  test('in the worst case leaks no memory', async () => {
    const on = await serve({ decode: { maxBytes: 8 * MiB } })
    const worst = `[${'{"a":1},'.repeat(500_000)}{}]`
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < 10; i++) expect((await on.ask({ body: worst })).status).toBe(400)
    // Forty megabytes arrived; keeping the parsed values would take many times that.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(256 * MiB)
    await on.isAlive()
  })
})

describe('a client that is slow', () => {
  const http = { headersTimeoutMs: 150, requestTimeoutMs: 300 }

  test.each([
    ['in its first line', 'POST /mc'],
    ['in its headers', 'POST /mcp HTTP/1.1\r\nHost: x\r\nX-A: '],
  ])('%s is cut off', async (_, start) => {
    const on = await serve({ http })
    const wire = await on.open()
    const status = wire
      .send(start)
      .reply()
      .then(
        reply => reply.status,
        () => 0,
      )
    await wire.ended
    expect([0, 400, 408]).toContain(await status)
    await on.isAlive()
  })

  test.each(['POST', 'POST over HTTP+SSE'])('in the body of a %s is cut off', async kind => {
    const on = await serve({ http })
    const path = kind === 'POST' ? '/mcp' : `/messages?sessionId=${await sseSession(on)}`
    const wire = await on.open({ path, headers: { 'content-length': '1000' }, body: '{"json' })
    const status = wire.reply().then(
      reply => reply.status,
      () => 0,
    )
    await wire.ended
    expect([0, 400, 408]).toContain(await status)
    await on.isAlive()
  })

  test('in sending its next request is disconnected', async () => {
    const on = await serve({ http: { idleTimeoutMs: 50 } })
    const wire = await on.open(speaking('tools/list'))
    await wire.reply()
    await wire.ended
  })
})

describe('many requests on one connection', () => {
  test('are answered in order, a thousand at once', async () => {
    const on = await serve()
    const wire = await on.open()
    const ids = Array.from({ length: 1000 }, (_, id) => id)
    const all = ids.map(id => written(on.port, calling('echo', { word: `${id}` }, { id })))
    wire.send(Buffer.concat(all))
    for (const id of ids) {
      const { json } = await wire.reply()
      expect([json.id, json.result.content[0].text]).toEqual([id, `${id}`])
    }
    wire.cut()
  })

  test('continue after a rejected one', async () => {
    const on = await serve()
    const wire = await on.open()
    const bad: Asking[] = [
      { body: '{' },
      { method: 'PUT' },
      { headers: { 'content-type': 'x' }, body: '{}' },
      { headers: { origin: 'null' }, body: 'x' },
      { path: '/x' },
      inSession('x', 'ping', {}, 1),
      speaking('nope'),
    ]
    for (const asking of bad) {
      const refused = await wire.send(written(on.port, asking)).reply()
      expect(refused.status).toBeGreaterThanOrEqual(400)
      expect((await wire.send(written(on.port, speaking('tools/list'))).reply()).status).toBe(200)
    }
    wire.cut()
  })
})

describe('requests with invalid parts', () => {
  const requests: readonly (readonly [string, object])[] = [
    ['server/discover', {}],
    ['tools/list', { cursor: 'x' }],
    ['tools/call', { name: 'echo', arguments: { word: 'x' } }],
    ['resources/list', { cursor: 'x' }],
    ['resources/read', { uri: 'x:y' }],
    ['prompts/get', { name: 'x', arguments: { a: 'b' } }],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'x' }, argument: { name: 'a', value: 'b' } },
    ],
    ['subscriptions/listen', { notifications: { toolsListChanged: 1 } }],
    ['tasks/get', { taskId: 'x' }],
    ['initialize', { protocolVersion: 'x', capabilities: {}, clientInfo: {} }],
  ]
  const values = [null, 0, -1, 1.5, '', 'x', true, [], [null], {}, { a: null }, { __proto__: null }]

  test.each(requests)('%s', async (method, params) => {
    const on = await serve()
    const wire = await on.open()
    for (const changed of [...mutations(params, values), undefined, [], 1]) {
      // A valid subscription stays open; this test is not about it.
      if (method === 'subscriptions/listen' && isRight(changed)) continue
      for (const asking of [
        mutant(method, changed),
        inSession(undefined, method, changed as object, 1),
      ]) {
        const reply = await wire.send(written(on.port, asking)).reply()
        expect(isAnswer(reply)).toBe(true)
      }
    }
    wire.cut()
    expect(on.failures).toEqual([])
    await on.isAlive()
  })
})

test('a hundred failed initialize requests leave no session', async () => {
  const on = await serve({ http: { sessions: { maxSessions: 1 } } })
  const bad: Asking[] = [
    inSession(undefined, 'initialize', {}, 1),
    inSession(undefined, 'initialize', { protocolVersion: 1, capabilities: {}, clientInfo: {} }, 1),
    inSession('made-up', 'tools/list', {}, 1),
    inSession(undefined, 'tools/list', {}, 1),
    { ...opening(), headers: { 'mcp-protocol-version': '2026-07-28' } },
    { ...opening(), headers: { 'content-type': 'text/plain' } },
    { method: 'GET' },
  ]
  for (let i = 0; i < 100; i++) {
    const { status, text } = await on.ask(bad[i % bad.length] ?? {})
    expect([i, status < 400 && !text.includes('"error"')]).toEqual([i, false])
  }
  expect((await on.ask(opening())).status).toBe(200)
  const second = await on.ask(opening())
  expect([second.status, second.headers.get('retry-after')]).toEqual([503, '5'])
})

async function sseSession(on: Served): Promise<string> {
  const wire = await on.open({ method: 'GET', path: '/sse' })
  await wire.begin()
  return new URLSearchParams((await wire.event())?.split('?')[1]).get('sessionId') ?? ''
}

function* mutations(params: object, values: readonly unknown[]): Generator<object> {
  for (const [key, value] of Object.entries(params)) {
    const { [key]: _, ...rest } = params as Record<string, unknown>
    yield rest
    for (const other of values) yield { ...params, [key]: other }
    if (typeof value !== 'object' || value === null) continue
    for (const inner of mutations(value, values)) yield { ...params, [key]: inner }
  }
}

function isRight(params: unknown): boolean {
  const { notifications } = (params ?? {}) as { notifications?: unknown }
  return (
    typeof notifications === 'object' && notifications !== null && !Array.isArray(notifications)
  )
}

/** Mirrors in the headers what can be mirrored, so that the mutant gets as far as possible. */
function mutant(method: string, params: unknown): Asking {
  const isObject = typeof params === 'object' && params !== null && !Array.isArray(params)
  return isObject
    ? speaking(method, params)
    : {
        headers: { 'mcp-protocol-version': '2026-07-28' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      }
}

function isAnswer({ status, json }: Reply): boolean {
  const isError = typeof json.error?.code === 'number' && typeof json.error.message === 'string'
  return isError ? json.error.code !== -32603 : status === 200 && 'result' in json
}
