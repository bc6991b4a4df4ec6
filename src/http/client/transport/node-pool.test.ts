import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { fakeClock } from '../../../testing/fake-clock.ts'
import { deferred } from '../../../util/deferred.ts'
import { limits } from '../../../util/limits/limits.ts'
import { systemClock } from '../../../util/time/clock.ts'
import { type Answer, type Carried, type Carrier, Hold } from './http-client.ts'
import { nodeCarrier } from './node-pool.ts'

const cleanups: (() => void)[] = []
afterEach(() => {
  for (const clean of cleanups.splice(0)) clean()
})

/** A server that is told of every request as a whole, and writes what it likes. */
class Raw {
  readonly server: Server
  readonly sockets: Socket[] = []
  /** The sockets of the requests, in the order in which those came. */
  readonly asked: Socket[] = []
  readonly #watchers: (() => void)[] = []

  constructor(answer: (socket: Socket, count: number) => void) {
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
          answer(socket, this.asked.length)
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

  /** Waits until so many requests have come. */
  async requests(count: number): Promise<void> {
    while (this.asked.length < count) await new Promise<void>(done => this.#watchers.push(done))
  }
}

const plain = (body: string, more = '') =>
  `HTTP/1.1 200 OK\r\n${more}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
const good = plain('good')

function carrier(clock = systemClock, maxNotices?: number): Carrier {
  const made = nodeCarrier(clock, maxNotices)
  cleanups.push(() => made.close())
  return made
}

function post(url: URL, more: Partial<Carried> = {}): Carried {
  return { method: 'POST', url, headers: {}, added: {}, body: '{}', hold: new Hold(), ...more }
}

/** Told when a connection is closed, in whatever way. */
function closing(socket: Socket | undefined): Promise<void> {
  return new Promise(resolve => void socket?.once('close', () => resolve()))
}

async function textOf(answer: Answer | Promise<Answer>, maxBytes = 1e6): Promise<string> {
  const bytes = await (await answer).whole(maxBytes)
  return bytes === undefined ? 'too large' : Buffer.from(bytes).toString('utf8')
}

describe('a connection', () => {
  test('is used again for the next request', async () => {
    const raw = new Raw(socket => void socket.write(good))
    const url = await raw.url()
    const web = carrier()
    for (let i = 0; i < 5; i++) expect(await textOf(web.ask(post(url)))).toBe('good')
    expect(raw.sockets).toHaveLength(1)
  })

  test('carries one request at a time', async () => {
    const raw = new Raw((socket, count) => {
      if (count === 3) for (const one of raw.asked) one.write(good)
      else if (count > 3) socket.write(good)
    })
    const url = await raw.url()
    const web = carrier()
    const answers = [1, 2, 3].map(() => textOf(web.ask(post(url))))
    expect(await Promise.all(answers)).toEqual(['good', 'good', 'good'])
    expect(new Set(raw.asked).size).toBe(3)
    await textOf(web.ask(post(url)))
    expect(raw.sockets).toHaveLength(3)
  })

  test.each([
    ['closes', plain('good', 'connection: close\r\n')],
    ['says more than the answer', `${good}more`],
    ['keeps it for hardly any time', plain('good', 'keep-alive: timeout=1\r\n')],
    ['ends the answer with it', 'HTTP/1.1 200 OK\r\n\r\ngood'],
  ])('is not used again when the server %s', async (_, text) => {
    const raw = new Raw(
      socket => void (text.includes('length') ? socket.write(text) : socket.end(text)),
    )
    const url = await raw.url()
    const web = carrier()
    expect(await textOf(web.ask(post(url)))).toBe('good')
    expect(await textOf(web.ask(post(url)))).toBe('good')
    expect(raw.sockets).toHaveLength(2)
  })

  test.each<[string, (socket: Socket) => void]>([
    ['that the server has closed meanwhile', socket => void socket.end()],
    ['on which something has come unasked', socket => void socket.write(plain('evil'))],
  ])('%s is not used again', async (_, disturb) => {
    const raw = new Raw(socket => void socket.write(good))
    const url = await raw.url()
    const web = carrier()
    await textOf(web.ask(post(url)))
    const [socket] = raw.sockets
    const closed = closing(socket)
    if (socket !== undefined) disturb(socket)
    await closed
    expect(await textOf(web.ask(post(url)))).toBe('good')
    expect(raw.sockets).toHaveLength(2)
  })

  test.each([
    ['the limit', '', limits.httpSpareMs.default],
    ['what the server says, less a second', 'keep-alive: max=9, timeout=3\r\n', 2000],
  ])('is kept as long as %s', async (_, more, ms) => {
    const raw = new Raw(socket => void socket.write(plain('good', more)))
    const url = await raw.url()
    const clock = fakeClock()
    const web = carrier(clock)
    await textOf(web.ask(post(url)))
    clock.advance(ms - 1)
    await textOf(web.ask(post(url)))
    expect(raw.sockets).toHaveLength(1)
    const closed = closing(raw.sockets[0])
    clock.advance(ms + limits.httpSpareMs.default / 4)
    await closed
    await textOf(web.ask(post(url)))
    expect(raw.sockets).toHaveLength(2)
  })

  test('whose request had not left when the answer came is not used again', async () => {
    const raw = new Raw(() => {})
    raw.server.on('connection', (socket: Socket) => {
      socket.removeAllListeners('data')
      // Nothing of the request is read.
      socket.pause()
      socket.write(good)
    })
    const url = await raw.url()
    const web = carrier()
    const body = 'x'.repeat(32 * 1024 * 1024)
    expect(await textOf(web.ask(post(url, { body })))).toBe('good')
    expect(await textOf(web.ask(post(url)))).toBe('good')
    expect(raw.sockets).toHaveLength(2)
  })

  test('is made over IPv6 too', async () => {
    const raw = new Raw(socket => void socket.write(good))
    const url = await raw.url('::1')
    expect(await textOf(carrier().ask(post(url)))).toBe('good')
  })
})

describe('a request that provably was not sent is one of a closed connection', () => {
  test('when nobody listens', async () => {
    const raw = new Raw(() => {})
    const url = await raw.url()
    await new Promise(resolve => void raw.server.close(resolve))
    const failure = await carrier()
      .ask(post(url))
      .catch(error => error)
    expect(failure).toMatchObject({ code: 'closed' })
    expect(failure.message).toContain('ECONNREFUSED')
  })

  test.each(['at once', 'in time'])('when no secure connection comes about %s', async how => {
    const clock = fakeClock()
    const raw = new Raw(() => {})
    const connected = deferred<Socket>()
    raw.server.on('connection', connected.resolve)
    const url = await raw.url('127.0.0.1', 'https')
    const asking = carrier(clock).ask(post(url))
    const socket = await connected.promise
    if (how === 'at once') socket.destroy()
    else clock.advance(limits.handshakeMs.default)
    await expect(asking).rejects.toMatchObject({ code: 'closed' })
    expect(clock.pending).toBe(0)
  })

  test('when the channel is closed while it waits for others', async () => {
    const raw = new Raw(() => {})
    const url = await raw.url()
    const web = carrier(systemClock, 1)
    const [first, second] = [1, 2].map(() => web.ask(post(url, { isBrief: true })))
    await raw.requests(1)
    web.close()
    expect(await Promise.allSettled([first, second])).toMatchObject([
      { reason: { code: 'outcome-unknown' } },
      { reason: { code: 'closed' } },
    ])
  })

  test('when the channel is closed', async () => {
    const web = carrier()
    web.close()
    const url = new URL('http://127.0.0.1:1/')
    await expect(web.ask(post(url))).rejects.toMatchObject({ code: 'closed' })
  })
})

test('a request to another origin is refused, and goes nowhere', async () => {
  const raw = new Raw(socket => void socket.write(good))
  const url = await raw.url()
  const web = carrier()
  await textOf(web.ask(post(url)))
  const other = new URL(`http://localhost:${url.port}/mcp`)
  await expect(web.ask(post(other))).rejects.toMatchObject({ code: 'refused' })
  expect(raw.asked).toHaveLength(1)
})

test('a server that speaks no TLS is refused', async () => {
  const raw = new Raw(() => {})
  raw.server.on('connection', (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  const url = await raw.url('127.0.0.1', 'https')
  await expect(carrier().ask(post(url))).rejects.toMatchObject({ code: 'refused' })
})

describe('a request that may have come to the server has an unknown outcome, and is not repeated', () => {
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
    const failure = await textOf(carrier().ask(post(url))).catch(error => error)
    expect(failure).toMatchObject({ code: 'outcome-unknown' })
    expect(raw.asked).toHaveLength(1)
  })

  test.each(ends)('when the server %s one that was used before', async (_, end) => {
    const raw = new Raw((socket, count) => void (count === 1 ? socket.write(good) : end(socket)))
    const url = await raw.url()
    const web = carrier()
    expect(await textOf(web.ask(post(url)))).toBe('good')
    await expect(textOf(web.ask(post(url)))).rejects.toMatchObject({ code: 'outcome-unknown' })
    expect(raw.asked).toHaveLength(2)
    expect(raw.sockets).toHaveLength(1)
  })
})

describe('giving up', () => {
  test('a request closes its connection and no other', async () => {
    const raw = new Raw((_, count) => void (count === 3 && raw.asked[0]?.write(good)))
    const url = await raw.url()
    const web = carrier()
    const kept = textOf(web.ask(post(url)))
    await raw.requests(1)
    const hold = new Hold()
    const left = web.ask(post(url, { hold }))
    await raw.requests(2)
    const closed = closing(raw.asked[1])
    const reason = new Error('enough')
    hold.drop(reason)
    await expect(left).rejects.toBe(reason)
    await closed
    void web.ask(post(url)).catch(() => {})
    expect(await kept).toBe('good')
  })

  test('one whose connection is being made makes none', async () => {
    const raw = new Raw(() => {})
    const url = await raw.url()
    const hold = new Hold()
    const left = carrier().ask(post(url, { hold }))
    hold.drop('enough')
    await expect(left).rejects.toBe('enough')
    expect(raw.asked).toHaveLength(0)
  })

  test('an answer that has begun ends the reading of it', async () => {
    const raw = new Raw(
      socket => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab'),
    )
    const url = await raw.url()
    const hold = new Hold()
    const text = textOf(carrier().ask(post(url, { hold })))
    await raw.requests(1)
    const closed = closing(raw.asked[0])
    hold.drop('enough')
    await expect(text).rejects.toBe('enough')
    await closed
  })

  test('dropping an answer closes its connection', async () => {
    const raw = new Raw(
      socket => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab'),
    )
    const url = await raw.url()
    const answer = await carrier().ask(post(url))
    const closed = closing(raw.asked[0])
    answer.drop()
    await closed
  })

  test('one that has been answered changes nothing', async () => {
    const raw = new Raw(socket => void socket.write(good))
    const url = await raw.url()
    const web = carrier()
    const hold = new Hold()
    await textOf(web.ask(post(url, { hold })))
    hold.drop('late')
    await textOf(web.ask(post(url)))
    expect(raw.sockets).toHaveLength(1)
  })
})

describe('notices', () => {
  test('wait for one another at the limit, and nothing else waits for them', async () => {
    const raw = new Raw(() => {})
    const url = await raw.url()
    const web = carrier(systemClock, 2)
    const notices = [1, 2, 3].map(() => textOf(web.ask(post(url, { isBrief: true }))))
    await raw.requests(2)
    const call = textOf(web.ask(post(url)))
    await raw.requests(3)
    raw.asked[2]?.write(plain('call'))
    expect(await call).toBe('call')
    expect(raw.asked).toHaveLength(3)
    raw.asked[0]?.write(good)
    await raw.requests(4)
    for (const socket of raw.asked.slice(1)) socket.write(good)
    expect(await Promise.all(notices)).toEqual(['good', 'good', 'good'])
  })

  test('that are given up while they wait are not sent', async () => {
    const raw = new Raw(() => {})
    const url = await raw.url()
    const web = carrier(systemClock, 1)
    const first = textOf(web.ask(post(url, { isBrief: true })))
    await raw.requests(1)
    const hold = new Hold()
    const second = web.ask(post(url, { isBrief: true, hold }))
    const third = textOf(web.ask(post(url, { isBrief: true })))
    hold.drop('enough')
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
    const web = carrier(systemClock, 1)
    const first = web.ask(post(url, { isBrief: true }))
    const second = web.ask(post(url, { isBrief: true }))
    await expect(first).rejects.toMatchObject({ code: 'outcome-unknown' })
    expect(await textOf(second)).toBe('good')
  })
})

describe('a body', () => {
  test('may come in pieces that cut characters apart', async () => {
    const raw = new Raw(() => {})
    const url = await raw.url()
    const text = textOf(carrier().ask(post(url)))
    await raw.requests(1)
    const [socket] = raw.asked
    socket?.setNoDelay(true)
    for (const byte of Buffer.from(plain('{"ü€😀":1}'))) {
      await new Promise(resolve => void socket?.write(Uint8Array.of(byte), resolve))
    }
    expect(await text).toBe('{"ü€😀":1}')
  })

  test('over the limit is left', async () => {
    const raw = new Raw(socket => void socket.write(plain('x'.repeat(300_000))))
    const url = await raw.url()
    const web = carrier()
    const answer = await web.ask(post(url))
    const closed = closing(raw.asked[0])
    expect(await textOf(answer, 200_000)).toBe('too large')
    await closed
  })

  test.each(['gzip', 'br', 'identity, gzip'])('that is packed with %s is refused', async coding => {
    const raw = new Raw(socket => void socket.write(plain('x', `content-encoding: ${coding}\r\n`)))
    const url = await raw.url()
    await expect(carrier().ask(post(url))).rejects.toMatchObject({ code: 'framing' })
  })

  test('may say that it is not packed', async () => {
    const raw = new Raw(socket => void socket.write(plain('x', 'content-encoding: Identity\r\n')))
    const url = await raw.url()
    expect(await textOf(carrier().ask(post(url)))).toBe('x')
  })

  test('that nobody takes stops coming', async () => {
    const raw = new Raw(socket => {
      const size = 64 * 1024 * 1024
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`)
      socket.write(Buffer.alloc(size))
    })
    const url = await raw.url()
    const answer = await carrier().ask(post(url))
    const gate = deferred<void>()
    let pieces = 0
    let size = 0
    const all = answer.each(piece => {
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
  const web = carrier()
  await textOf(web.ask(post(url)))
  const [kept, open] = [web.ask(post(url)), web.ask(post(url))]
  await raw.requests(3)
  const closed = raw.sockets.map(closing)
  web.close()
  const lost = { status: 'rejected', reason: { code: 'outcome-unknown' } }
  expect(await Promise.allSettled([kept, open])).toMatchObject([lost, lost])
  await Promise.all(closed)
})
