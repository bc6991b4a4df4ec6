import { describe, expect, test, vi } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import {
  bare,
  DrivenChannel,
  Events,
  json,
  refuse,
  reply,
  type Script,
  settle,
  stateless,
} from '../../../test/support/fake-fetch.ts'
import { httpChannel } from './channel.ts'
import { HttpStatusError } from './errors.ts'

const progress = { method: 'notifications/progress', params: { progressToken: 1, progress: 1 } }

describe('a request', () => {
  test('is a POST that says what it accepts, and its JSON is the reply', async () => {
    proves('H3b', 'N3b')
    const driven = new DrivenChannel(received => reply(received, { ok: 1 }), {
      headers: { authorization: 'Bearer x' },
    })
    driven.request(1, 'ping')
    await driven.ended()
    const [received] = driven.received
    expect(received?.method).toBe('POST')
    expect(received?.body).toEqual({ jsonrpc: '2.0', id: 1, method: 'ping' })
    expect(Object.fromEntries(received?.headers ?? [])).toEqual({
      accept: 'application/json, text/event-stream',
      authorization: 'Bearer x',
      'content-type': 'application/json',
    })
    expect(driven.arrivals).toEqual([
      { arrival: { type: 'result', id: 1, result: { ok: 1 } }, envelope: { about: 1 } },
    ])
  })

  test('gets its headers from a function, called each time, which do not replace those of the protocol', async () => {
    let count = 0
    const headers = async () => ({ authorization: `Bearer ${++count}`, Accept: 'text/html' })
    const driven = new DrivenChannel(received => reply(received), { headers })
    driven.request(1, 'ping')
    await driven.ended()
    driven.request(2, 'ping')
    await driven.ended(2)
    expect(driven.received.map(one => one.headers.get('authorization'))).toEqual([
      'Bearer 1',
      'Bearer 2',
    ])
    expect(driven.received[0]?.headers.get('accept')).toBe('application/json, text/event-stream')
  })

  test('fails unsent when its headers cannot be made', async () => {
    const driven = new DrivenChannel(received => reply(received), {
      headers: () => {
        throw new Error('no token')
      },
    })
    driven.request(1, 'ping')
    await driven.ended()
    expect(driven.received).toEqual([])
    expect(driven.failures).toMatchObject([{ id: 1, error: { code: 'refused' } }])
    expect(driven.failures[0]?.error.message).toContain('no token')
  })

  test('may be answered by an event stream, whose messages belong to it', async () => {
    proves('N5b', 'N6f')
    const events = new Events()
    const driven = new DrivenChannel(() => events.response)
    driven.request(1, 'tools/call', { name: 'a', ...stateless })
    events.write(': comment\n\nid: 1\ndata:\n\n').message(progress).message({ id: 1, result: {} })
    events.end()
    await driven.ended(2)
    expect(driven.arrivals).toMatchObject([
      { arrival: { type: 'notification', ...progress }, envelope: { about: 1 } },
      { arrival: { type: 'result', id: 1 }, envelope: { about: 1 } },
    ])
    expect(driven.errors).toEqual([])
  })

  test('is read in any chunks', async () => {
    const events = new Events()
    const driven = new DrivenChannel(() => events.response)
    driven.request(1, 'ping')
    const text = `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: 'grüße 🚂' })}\r\n\r\n`
    for (const byte of new TextEncoder().encode(text)) events.write(Uint8Array.of(byte))
    await driven.ended()
    expect(driven.arrivals[0]?.arrival).toEqual({ type: 'result', id: 1, result: 'grüße 🚂' })
    events.end()
  })

  test('is queued where too many are open, and leaves the queue when cancelled', async () => {
    const waiting: (() => void)[] = []
    const slow: Script = received =>
      new Promise(resolve => waiting.push(() => resolve(reply(received))))
    const driven = new DrivenChannel(slow, { maxOpenRequests: 2 })
    for (const id of [1, 2, 3, 4]) driven.request(id, 'tools/call', stateless)
    await settle()
    expect(driven.received.map(({ body }) => body.id)).toEqual([1, 2])
    driven.channel.abandon?.(3)
    waiting[0]?.()
    await driven.until(({ received }) => received.length === 3)
    expect(driven.received[2]?.body.id).toBe(4)
  })

  test('is sent however many listen to changes', async () => {
    const events = new Events()
    const driven = new DrivenChannel(
      received => (received.body.id === 9 ? reply(received) : events.response),
      {
        maxOpenRequests: 1,
      },
    )
    for (const id of [1, 2]) driven.request(id, 'subscriptions/listen', stateless)
    driven.request(9, 'tools/call', stateless)
    await driven.ended()
    expect(driven.arrivals).toMatchObject([{ arrival: { id: 9 } }])
  })

  test('that is not JSON is rejected before anything is sent', () => {
    const driven = new DrivenChannel(received => reply(received))
    const params = { big: 1n }
    expect(() => driven.request(1, 'ping', params)).toThrow('not JSON')
    expect(() => driven.channel.send([])).toThrow(TypeError)
    expect(driven.received).toEqual([])
  })

  test('in a batch is answered with all the others', async () => {
    proves('H4')
    const driven = new DrivenChannel(({ body }) =>
      json(body.map(({ id }: { id: number }) => ({ jsonrpc: '2.0', id, result: id }))),
    )
    const ping = (id: number) => ({ type: 'request', id, method: 'ping' }) as const
    void driven.channel.send([ping(1), ping(2)])
    await driven.ended(2)
    expect(driven.arrivals.map(({ arrival }) => arrival)).toEqual([
      { type: 'result', id: 1, result: 1 },
      { type: 'result', id: 2, result: 2 },
    ])
  })
})

describe('an invalid response', () => {
  const html = new Response('<html>', { headers: { 'content-type': 'text/html' } })
  const cases: readonly [string, Script, string, RegExp][] = [
    ['a page', () => html, 'framing', /200 with text\/html instead of/],
    ['nothing', () => bare(204), 'framing', /204 with nothing/],
    ['a notification’s response', () => bare(202), 'framing', /202/],
    ['half of a JSON', () => textual('{"jsonrpc":"2.0","id":1'), 'framing', /not a valid message/],
    [
      'another’s reply',
      ({ body }) => json({ jsonrpc: '2.0', id: body.id + 1, result: 1 }),
      'framing',
      /no reply/,
    ],
    ['no UTF-8', () => textual(Uint8Array.of(0xff)), 'framing', /UTF-8/],
    ['401', () => bare(401, { 'www-authenticate': 'Bearer' }), 'refused', /401/],
    ['403 with an error', received => refuse(received, 403, -32000), 'refused', /403.*no/],
    ['404', () => bare(404), 'refused', /404/],
    ['429', () => bare(429), 'refused', /429/],
    ['500', () => bare(500), 'outcome-unknown', /500/],
    ['502', () => bare(502), 'outcome-unknown', /502/],
    ['503', () => bare(503), 'refused', /503/],
    ['408', () => bare(408), 'refused', /408/],
    [
      'a server that is closing',
      () => bare(408, { 'trunkline-request': 'not-begun' }),
      'closed',
      /did not begin/,
    ],
    ['a refused connection', () => broken('ECONNREFUSED'), 'closed', /ECONNREFUSED/],
    ['a reset connection', () => broken('ECONNRESET'), 'outcome-unknown', /executed/],
    ['a wrong certificate', () => broken('CERT_HAS_EXPIRED'), 'refused', /CERT/],
    ['a body that breaks off', () => brokenBody(), 'outcome-unknown', /executed/],
    [
      'an event stream that ends early',
      ({ signal }) => new Events(signal).end(),
      'outcome-unknown',
      /broke off/,
    ],
  ]

  test.each(cases)('%s fails the request alone', async (_, script, code, words) => {
    const response: Script = (received, count) =>
      count === 1 ? script(received, count) : reply(received)
    const driven = new DrivenChannel(response)
    driven.request(1, 'tools/call', { name: 'a', ...stateless })
    await driven.ended()
    expect(driven.failures).toMatchObject([{ id: 1, error: { code } }])
    expect(driven.failures[0]?.error.message).toMatch(/^tools\/call: /)
    expect(driven.failures[0]?.error.message).toMatch(words)
    expect(driven.closed).toBeUndefined()
    driven.request(2, 'ping')
    await driven.ended(2)
    expect(driven.arrivals).toHaveLength(1)
  })

  test('keeps its status and headers as the cause', async () => {
    const driven = new DrivenChannel(() => bare(401, { 'www-authenticate': 'Bearer realm="x"' }))
    driven.request(1, 'ping')
    await driven.ended()
    const cause = driven.failures[0]?.error.cause
    expect(cause).toBeInstanceOf(HttpStatusError)
    expect(cause).toMatchObject({ status: 401 })
    expect((cause as HttpStatusError).headers.get('www-authenticate')).toBe('Bearer realm="x"')
  })

  test('is cut at the limit, be it a body or an event', async () => {
    const big = { jsonrpc: '2.0', id: 1, result: 'x'.repeat(200) }
    const events = new Events()
    const driven = new DrivenChannel((_, count) => (count === 1 ? json(big) : events.response), {
      decode: { maxBytes: 100 },
    })
    driven.request(1, 'ping')
    await driven.ended()
    driven.request(2, 'ping')
    events.write(`data: ${'x'.repeat(200)}`)
    await driven.ended(2)
    expect(driven.failures.map(({ error }) => error.code)).toEqual(['too-large', 'too-large'])
    await settle()
    expect(events.isLeft).toBe(true)
  })

  test.each([
    [400, -32602],
    [404, -32601],
    [400, -32022],
    [500, -32603],
  ])('but %i with an error of the protocol is the reply', async (status, code) => {
    const driven = new DrivenChannel(received => refuse(received, status, code))
    driven.request(1, 'tools/list', stateless)
    await driven.ended()
    expect(driven.arrivals).toMatchObject([{ arrival: { type: 'error', id: 1, error: { code } } }])
  })

  test('and an error without an id is the reply to what was posted', async () => {
    const error = { code: -32000, message: 'no' }
    const driven = new DrivenChannel(() => json({ jsonrpc: '2.0', id: null, error }, 400))
    driven.request(7, 'tools/list')
    await driven.ended()
    expect(driven.arrivals[0]?.arrival).toEqual({ type: 'error', id: 7, error })
  })

  test('but where nothing is served, the error names the URL', async () => {
    const error = { code: -32000, message: 'nothing here' }
    for (const id of [null, 8]) {
      const driven = new DrivenChannel(() => json({ jsonrpc: '2.0', id, error }, 404))
      driven.request(7, 'tools/list')
      await driven.ended()
      expect(driven.failures).toMatchObject([{ id: 7, error: { code: 'refused' } }])
      const words = /POST http:\/\/localhost:1\/mcp was answered 404: nothing here$/
      expect(driven.failures[0]?.error.message).toMatch(words)
    }
  })

  test('and a large body of an HTTP error is not read', async () => {
    const error = { code: -32000, message: 'x'.repeat(70_000) }
    const driven = new DrivenChannel(() => json({ jsonrpc: '2.0', id: 1, error }, 400))
    driven.request(1, 'tools/list')
    await driven.ended()
    expect(driven.failures).toMatchObject([{ error: { code: 'refused' } }])
  })
})

describe('cancelling', () => {
  test('a stateless request disconnects from its response, and nothing else is sent', async () => {
    const events: Events[] = []
    const driven = new DrivenChannel(({ signal }) => {
      events.push(new Events(signal))
      return events[0]?.response ?? bare(500)
    })
    driven.request(0, 'tools/call', { name: 'a', ...stateless })
    await driven.until(() => events.length === 1)
    driven.channel.abandon?.(0)
    expect(driven.received[0]?.signal.aborted).toBe(true)
    await settle()
    expect(events[0]?.isLeft).toBe(true)
    expect(driven.failures.map(({ id }) => id)).toEqual([0])
    expect(driven.received).toHaveLength(1)
    expect(driven.closed).toBeUndefined()
  })

  test('an unknown id has no effect', () => {
    const driven = new DrivenChannel(() => bare(202))
    expect(() => driven.channel.abandon?.('nothing')).not.toThrow()
  })
})

describe('a stateless response', () => {
  test('that holds a request, or the reply to another, is dropped and reported', async () => {
    const events = new Events()
    const driven = new DrivenChannel(() => events.response)
    driven.request(1, 'tools/call', { name: 'a', ...stateless })
    events.message({ id: 5, method: 'roots/list' }).message({ id: 2, result: {} })
    events.write('data: {no\n\n').write(Uint8Array.of(100, 97, 116, 97, 58, 0xff, 10, 10))
    events.write('event: other\ndata: {}\n\n')
    events.message({ id: 1, result: {} }).end()
    await driven.ended()
    expect(driven.arrivals).toHaveLength(1)
    expect(driven.errors).toHaveLength(4)
  })

  test('is not resumed when it breaks off, whatever ids it had', async () => {
    const events = new Events().message(progress, 'x')
    const driven = new DrivenChannel(() => events.break())
    driven.request(1, 'tools/call', { name: 'a', ...stateless })
    await driven.until(({ failures }) => failures.length === 1)
    expect(driven.failures[0]?.error.code).toBe('outcome-unknown')
    expect(driven.received).toHaveLength(1)
  })
})

describe('a notification', () => {
  test('is accepted with any 2xx status, and otherwise reported', async () => {
    const driven = new DrivenChannel((_, count) => bare(count === 1 ? 202 : 400))
    driven.notify('notifications/progress')
    driven.notify('notifications/progress')
    await driven.until(({ errors }) => errors.length === 1)
    expect(String(driven.errors[0])).toContain('notifications/progress')
    expect(String(driven.errors[0])).toContain('400')
  })

  test('does not overtake: nothing is sent before `initialized` is accepted', async () => {
    let accept = () => {}
    const driven = new DrivenChannel(received => {
      if (received.method === 'GET') return bare(405)
      if (received.body.method !== 'notifications/initialized') return reply(received)
      return new Promise(resolve => {
        accept = () => resolve(bare(202))
      })
    })
    driven.notify('notifications/initialized')
    driven.request(1, 'ping')
    driven.notify('notifications/roots/list_changed')
    await settle()
    expect(driven.received).toHaveLength(1)
    accept()
    await driven.ended()
    expect(driven.received.map(({ body }) => body?.method)).toContain('ping')
  })
})

describe('a channel', () => {
  test('accepts HTTP URLs, without passwords', () => {
    expect(() => httpChannel(new URL('ws://localhost'))).toThrow(TypeError)
    expect(() => httpChannel(new URL('http://me:secret@localhost'))).toThrow(/header/)
  })

  test('is closed once, sends nothing afterwards, and cancels open requests', async () => {
    const driven = new DrivenChannel(({ signal }) => new Events(signal).response)
    driven.request(1, 'tools/call', stateless)
    await settle()
    await Promise.all([driven.channel.close(), driven.channel.close()])
    expect(driven.closed).toEqual({ cause: undefined })
    expect(driven.received[0]?.signal.aborted).toBe(true)
    expect(driven.received).toHaveLength(1)
    expect(() => driven.request(2, 'ping')).toThrow('closed')
    await settle()
    expect(driven.failures).toEqual([])
  })

  test('survives a callback that throws', async () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    const driven = new DrivenChannel(
      received => (received.body.id === undefined ? bare(500) : reply(received)),
      {
        onError: () => {
          throw new Error('the owner’s mistake')
        },
      },
    )
    driven.notify('notifications/progress')
    driven.request(1, 'ping')
    await driven.ended()
    await settle()
    expect(printed).toHaveBeenCalled()
    printed.mockRestore()
  })
})

function textual(body: string | Uint8Array<ArrayBuffer>): Response {
  return new Response(body, { headers: { 'content-type': 'application/json' } })
}

function broken(code: string): never {
  const cause = Object.assign(new Error(`connect ${code}`), { code })
  throw new TypeError('fetch failed', { cause })
}

function brokenBody(): Response {
  const body = new ReadableStream({
    start: controller => {
      controller.enqueue(new TextEncoder().encode('{"jsonrpc"'))
      controller.error(new TypeError('terminated'))
    },
  })
  return new Response(body, { headers: { 'content-type': 'application/json' } })
}
