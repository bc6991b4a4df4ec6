import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { fakeClock } from '../../../testing/fake-clock.ts'
import { limits } from '../../../util/limits/limits.ts'
import { deferred } from '../../../util/promises.ts'
import { systemClock } from '../../../util/time/clock.ts'
import {
  AbortHandle,
  type HttpClient,
  type HttpResponse,
  type OutgoingRequest,
} from './http-client.ts'
import { nodeClient } from './node-pool.ts'

const cleanups: (() => void)[] = []
afterEach(() => {
  for (const clean of cleanups.splice(0)) clean()
})

/** A server that gets every request as a whole and writes arbitrary bytes. */
class Raw {
  readonly server: Server
  readonly sockets: Socket[] = []
  /** The sockets of the requests, in the order of arrival. */
  readonly asked: Socket[] = []
  readonly #watchers: (() => void)[] = []

  constructor(response: (socket: Socket, count: number) => void) {
    this.server = createServer(socket => {
      this.sockets.push(socket)
      let text = ''
      socket.on('error', () => {})
      socket.on('data', chunk => {
        text += chunk.toString('latin1')
        for (;;) {
          const end = text.indexOf('\r\n\r\n')
          if (end === -1) return
          const length = Number(/content-length: (\d+)/.exec(text)?.[1] ?? 0)
          if (text.length < end + 4 + length) return
          text = text.slice(end + 4 + length)
          this.asked.push(socket)
          response(socket, this.asked.length)
          for (const watcher of this.#watchers.splice(0)) watcher()
        }
      })
    })
    cleanups.push(() => {
      for (const socket of this.sockets) socket.destroy()
      this.server.close()
    })
  }

  async url(host = '127.0.0.1', scheme = 'http'): Promise<URL> {
    await new Promise<void>(resolve => void this.server.listen(0, host, resolve))
    const { port } = this.server.address() as AddressInfo
    return new URL(`${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}/mcp`)
  }

  /** Waits until this number of requests has arrived. */
  async requests(count: number): Promise<void> {
    while (this.asked.length < count) await new Promise<void>(done => this.#watchers.push(done))
  }
}

const plain = (body: string, more = '') =>
  `HTTP/1.1 200 OK\r\n${more}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
const good = plain('good')

function client(clock = systemClock, maxNotifications?: number): HttpClient {
  const made = nodeClient(clock, maxNotifications)
  cleanups.push(() => made.close())
  return made
}

function post(url: URL, more: Partial<OutgoingRequest> = {}): OutgoingRequest {
  return {
    method: 'POST',
    url,
    headers: {},
    added: {},
    body: '{}',
    handle: new AbortHandle(),
    ...more,
  }
}

/** Resolves when a connection has closed, in any way. */
function closing(socket: Socket | undefined): Promise<void> {
  return new Promise(resolve => void socket?.once('close', () => resolve()))
}

async function textOf(
  response: HttpResponse | Promise<HttpResponse>,
  maxBytes = 1e6,
): Promise<string> {
  const bytes = await (await response).whole(maxBytes)
  return bytes === undefined ? 'too large' : Buffer.from(bytes).toString('utf8')
}

describe('a connection', () => {
  test('is used again for the next request', async () => {
    const raw = new Raw(socket => void socket.write(good))
    const url = await raw.url()
    const web = client()
    for (let i = 0; i < 5; i++) expect(await textOf(web.send(post(url)))).toBe('good')
    expect(raw.sockets).toHaveLength(1)
  })

  test('carries one request at a time', async () => {
    const raw = new Raw((socket, count) => {
      if (count === 3) for (const one of raw.asked) one.write(good)
      else if (count > 3) socket.write(good)
    })
    const url = await raw.url()
    const web = client()
    const answers = [1, 2, 3].map(() => textOf(web.send(post(url))))
    expect(await Promise.all(answers)).toEqual(['good', 'good', 'good'])
    expect(new Set(raw.asked).size).toBe(3)
    await textOf(web.send(post(url)))
    expect(raw.sockets).toHaveLength(3)
  })

  test.each([
    ['closes', plain('good', 'connection: close\r\n')],
    ['says more than the response', `${good}more`],
    ['keeps it for hardly any time', plain('good', 'keep-alive: timeout=1\r\n')],
    ['ends the response with it', 'HTTP/1.1 200 OK\r\n\r\ngood'],
  ])('is not used again when the server %s', async (_, text) => {
    const raw = new Raw(
      socket => void (text.includes('length') ? socket.write(text) : socket.end(text)),
    )
    const url = await raw.url()
    const web = client()
    expect(await textOf(web.send(post(url)))).toBe('good')
    expect(await textOf(web.send(post(url)))).toBe('good')
    expect(raw.sockets).toHaveLength(2)
  })

  test.each<[string, (socket: Socket) => void]>([
    ['that the server has closed meanwhile', socket => void socket.end()],
    ['on which something has come unasked', socket => void socket.write(plain('evil'))],
  ])('%s is not used again', async (_, disturb) => {
    const raw = new Raw(socket => void socket.write(good))
    const url = await raw.url()
    const web = client()
    await textOf(web.send(post(url)))
    const [socket] = raw.sockets
    const closed = closing(socket)
    if (socket !== undefined) disturb(socket)
    await closed
    expect(await textOf(web.send(post(url)))).toBe('good')
    expect(raw.sockets).toHaveLength(2)
  })

  test.each([
    ['the limit', '', limits.httpKeepAliveMs.default],
    ['what the server says, less a second', 'keep-alive: max=9, timeout=3\r\n', 2000],
  ])('is kept as long as %s', async (_, more, ms) => {
    const raw = new Raw(socket => void socket.write(plain('good', more)))
    const url = await raw.url()
    const clock = fakeClock()
    const web = client(clock)
    await textOf(web.send(post(url)))
    clock.advance(ms - 1)
    await textOf(web.send(post(url)))
    expect(raw.sockets).toHaveLength(1)
    const closed = closing(raw.sockets[0])
    clock.advance(ms + limits.httpKeepAliveMs.default / 4)
    await closed
    await textOf(web.send(post(url)))
    expect(raw.sockets).toHaveLength(2)
  })

  test('whose request was not fully sent when the response came is not used again', async () => {
    const raw = new Raw(() => {})
    raw.server.on('connection', (socket: Socket) => {
      socket.removeAllListeners('data')
      // Nothing of the request is read.
      socket.pause()
      socket.write(good)
    })
    const url = await raw.url()
    const web = client()
    const body = 'x'.repeat(32 * 1024 * 1024)
    expect(await textOf(web.send(post(url, { body })))).toBe('good')
    expect(await textOf(web.send(post(url)))).toBe('good')
    expect(raw.sockets).toHaveLength(2)
  })

  test('is opened over IPv6 too', async () => {
    const raw = new Raw(socket => void socket.write(good))
    const url = await raw.url('::1')
    expect(await textOf(client().send(post(url)))).toBe('good')
  })
})

describe('a request that was provably not sent fails with `closed`', () => {
  test('when no server listens', async () => {
    const raw = new Raw(() => {})
    const url = await raw.url()
    await new Promise(resolve => void raw.server.close(resolve))
    const failure = await client()
      .send(post(url))
      .catch(error => error)
    expect(failure).toMatchObject({ code: 'closed' })
    expect(failure.message).toContain('ECONNREFUSED')
  })

  test.each(['at once', 'in time'])('when no secure connection is established %s', async how => {
    const clock = fakeClock()
    const raw = new Raw(() => {})
    const connected = deferred<Socket>()
    raw.server.on('connection', connected.resolve)
    const url = await raw.url('127.0.0.1', 'https')
    const info = client(clock).send(post(url))
    const socket = await connected.promise
    if (how === 'at once') socket.destroy()
    else clock.advance(limits.handshakeMs.default)
    await expect(info).rejects.toMatchObject({ code: 'closed' })
    expect(clock.pending).toBe(0)
  })

  test('when the channel is closed while it is queued', async () => {
    const raw = new Raw(() => {})
    const url = await raw.url()
    const web = client(systemClock, 1)
    const [first, second] = [1, 2].map(() => web.send(post(url, { isOneWay: true })))
    await raw.requests(1)
    web.close()
    expect(await Promise.allSettled([first, second])).toMatchObject([
      { reason: { code: 'outcome-unknown' } },
      { reason: { code: 'closed' } },
    ])
  })

  test('when the channel is closed', async () => {
    const web = client()
    web.close()
    const url = new URL('http://127.0.0.1:1/')
    await expect(web.send(post(url))).rejects.toMatchObject({ code: 'closed' })
  })
})

test('a request to another origin is rejected, and not sent', async () => {
  const raw = new Raw(socket => void socket.write(good))
  const url = await raw.url()
  const web = client()
  await textOf(web.send(post(url)))
  const other = new URL(`http://localhost:${url.port}/mcp`)
  await expect(web.send(post(other))).rejects.toMatchObject({ code: 'refused' })
  expect(raw.asked).toHaveLength(1)
})

test('a server without TLS is rejected', async () => {
  const raw = new Raw(() => {})
  raw.server.on('connection', (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  const url = await raw.url('127.0.0.1', 'https')
  await expect(client().send(post(url))).rejects.toMatchObject({ code: 'refused' })
})

describe('a request that the server may have received has an unknown outcome, and is not repeated', () => {
  const ends: [string, (socket: Socket) => void][] = [
    ['closes', socket => socket.end()],
    ['resets', socket => socket.resetAndDestroy()],
    ['breaks off the headers of', socket => socket.end('HTTP/1.1 200 OK\r\ncontent-')],
    [
      'breaks off the body of',
      socket => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab'),
    ],
    [
      'breaks off the chunks of',
      socket => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab'),
    ],
    ['speaks something else on', socket => socket.write('220 ready\r\n')],
    [
      'sends too many headers on',
      socket => socket.write(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(4000)}`),
    ],
  ]

  test.each(ends)('when the server %s a new connection', async (_, end) => {
    const raw = new Raw(end)
    const url = await raw.url()
    const failure = await textOf(client().send(post(url))).catch(error => error)
    expect(failure).toMatchObject({ code: 'outcome-unknown' })
    expect(raw.asked).toHaveLength(1)
  })

  test.each(ends)('when the server %s one that was used before', async (_, end) => {
    const raw = new Raw((socket, count) => void (count === 1 ? socket.write(good) : end(socket)))
    const url = await raw.url()
    const web = client()
    expect(await textOf(web.send(post(url)))).toBe('good')
    await expect(textOf(web.send(post(url)))).rejects.toMatchObject({ code: 'outcome-unknown' })
    expect(raw.asked).toHaveLength(2)
    expect(raw.sockets).toHaveLength(1)
  })
})

describe('cancelling', () => {
  test('a request closes its connection and no other', async () => {
    const raw = new Raw((_, count) => void (count === 3 && raw.asked[0]?.write(good)))
    const url = await raw.url()
    const web = client()
    const kept = textOf(web.send(post(url)))
    await raw.requests(1)
    const handle = new AbortHandle()
    const left = web.send(post(url, { handle }))
    await raw.requests(2)
    const closed = closing(raw.asked[1])
    const reason = new Error('enough')
    handle.abort(reason)
    await expect(left).rejects.toBe(reason)
    await closed
    void web.send(post(url)).catch(() => {})
    expect(await kept).toBe('good')
  })

  test('one whose connection is being opened opens none', async () => {
    const raw = new Raw(() => {})
    const url = await raw.url()
    const handle = new AbortHandle()
    const left = client().send(post(url, { handle }))
    handle.abort('enough')
    await expect(left).rejects.toBe('enough')
    expect(raw.asked).toHaveLength(0)
  })

  test('a response that has begun ends the reading of it', async () => {
    const raw = new Raw(
      socket => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab'),
    )
    const url = await raw.url()
    const handle = new AbortHandle()
    const text = textOf(client().send(post(url, { handle })))
    await raw.requests(1)
    const closed = closing(raw.asked[0])
    handle.abort('enough')
    await expect(text).rejects.toBe('enough')
    await closed
  })

  test('discarding a response closes its connection', async () => {
    const raw = new Raw(
      socket => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab'),
    )
    const url = await raw.url()
    const response = await client().send(post(url))
    const closed = closing(raw.asked[0])
    response.discard()
    await closed
  })

  test('one that has been answered has no effect', async () => {
    const raw = new Raw(socket => void socket.write(good))
    const url = await raw.url()
    const web = client()
    const handle = new AbortHandle()
    await textOf(web.send(post(url, { handle })))
    handle.abort('late')
    await textOf(web.send(post(url)))
    expect(raw.sockets).toHaveLength(1)
  })
})

describe('notifications', () => {
  test('queue at the limit, and nothing else waits for them', async () => {
    const raw = new Raw(() => {})
    const url = await raw.url()
    const web = client(systemClock, 2)
    const notices = [1, 2, 3].map(() => textOf(web.send(post(url, { isOneWay: true }))))
    await raw.requests(2)
    const call = textOf(web.send(post(url)))
    await raw.requests(3)
    raw.asked[2]?.write(plain('call'))
    expect(await call).toBe('call')
    expect(raw.asked).toHaveLength(3)
    raw.asked[0]?.write(good)
    await raw.requests(4)
    for (const socket of raw.asked.slice(1)) socket.write(good)
    expect(await Promise.all(notices)).toEqual(['good', 'good', 'good'])
  })

  test('that are aborted while they are queued are not sent', async () => {
    const raw = new Raw(() => {})
    const url = await raw.url()
    const web = client(systemClock, 1)
    const first = textOf(web.send(post(url, { isOneWay: true })))
    await raw.requests(1)
    const handle = new AbortHandle()
    const second = web.send(post(url, { isOneWay: true, handle }))
    const third = textOf(web.send(post(url, { isOneWay: true })))
    handle.abort('enough')
    await expect(second).rejects.toBe('enough')
    raw.asked[0]?.write(good)
    await raw.requests(2)
    raw.asked[1]?.write(good)
    expect([await first, await third]).toEqual(['good', 'good'])
    expect(raw.asked).toHaveLength(2)
  })

  test('make room for others when they fail', async () => {
    const raw = new Raw(
      (socket, count) => void (count === 1 ? socket.destroy() : socket.write(good)),
    )
    const url = await raw.url()
    const web = client(systemClock, 1)
    const first = web.send(post(url, { isOneWay: true }))
    const second = web.send(post(url, { isOneWay: true }))
    await expect(first).rejects.toMatchObject({ code: 'outcome-unknown' })
    expect(await textOf(second)).toBe('good')
  })
})

describe('a body', () => {
  test('may arrive in pieces that split characters', async () => {
    const raw = new Raw(() => {})
    const url = await raw.url()
    const text = textOf(client().send(post(url)))
    await raw.requests(1)
    const [socket] = raw.asked
    socket?.setNoDelay(true)
    for (const byte of Buffer.from(plain('{"ü€😀":1}'))) {
      await new Promise(resolve => void socket?.write(Uint8Array.of(byte), resolve))
    }
    expect(await text).toBe('{"ü€😀":1}')
  })

  test('over the limit is discarded', async () => {
    const raw = new Raw(socket => void socket.write(plain('x'.repeat(300_000))))
    const url = await raw.url()
    const web = client()
    const response = await web.send(post(url))
    const closed = closing(raw.asked[0])
    expect(await textOf(response, 200_000)).toBe('too large')
    await closed
  })

  test.each(['gzip', 'br', 'identity, gzip'])(
    'that is compressed with %s is rejected',
    async coding => {
      const raw = new Raw(
        socket => void socket.write(plain('x', `content-encoding: ${coding}\r\n`)),
      )
      const url = await raw.url()
      await expect(client().send(post(url))).rejects.toMatchObject({ code: 'framing' })
    },
  )

  test('may say that it is not compressed', async () => {
    const raw = new Raw(socket => void socket.write(plain('x', 'content-encoding: Identity\r\n')))
    const url = await raw.url()
    expect(await textOf(client().send(post(url)))).toBe('x')
  })

  test('that is not read pauses the connection', async () => {
    const raw = new Raw(socket => {
      const size = 64 * 1024 * 1024
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`)
      socket.write(Buffer.alloc(size))
    })
    const url = await raw.url()
    const response = await client().send(post(url))
    const gate = deferred<void>()
    let pieces = 0
    let size = 0
    const all = response.each(piece => {
      size += piece.length
      return ++pieces === 1 ? gate.promise : undefined
    })
    const [socket] = raw.asked
    for (let turn = 0; turn < 50; turn++) await new Promise(resolve => setImmediate(resolve))
    expect(pieces).toBe(1)
    expect(socket?.writableLength).toBeGreaterThan(0)
    gate.resolve()
    await all
    expect(size).toBe(64 * 1024 * 1024)
  })
})

test('closing ends every connection', async () => {
  const raw = new Raw((socket, count) => void (count === 1 && socket.write(good)))
  const url = await raw.url()
  const web = client()
  await textOf(web.send(post(url)))
  const [kept, open] = [web.send(post(url)), web.send(post(url))]
  await raw.requests(3)
  const closed = raw.sockets.map(closing)
  web.close()
  const lost = { status: 'rejected', reason: { code: 'outcome-unknown' } }
  expect(await Promise.allSettled([kept, open])).toMatchObject([lost, lost])
  await Promise.all(closed)
})
