import { describe, expect, test } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import {
  bare,
  DrivenChannel,
  Events,
  inSession,
  type ReceivedRequest,
  reply,
  type Script,
  settle,
} from '../../../test/support/fake-fetch.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../../util/limits/limits.ts'

const newest = '2025-11-25'
const progress = { method: 'notifications/progress', params: { progressToken: 1, progress: 1 } }
const noStream: Script = received => (received.method === 'POST' ? reply(received) : bare(405))

/** A session in which the POST of request 1 is answered by one stream after the other. */
function streams(list: readonly Events[], unsolicited: () => Response = () => bare(405)): Script {
  let at = 0
  return inSession(newest, received => {
    const isMain =
      received.method === 'POST' ? received.body.id === 1 : received.headers.has('last-event-id')
    if (received.method === 'DELETE') return bare(204)
    if (isMain) return list[at++]?.response ?? bare(500)
    return received.method === 'GET' ? unsolicited() : reply(received)
  })
}

describe('a session', () => {
  test.each([
    ['2025-03-26', null],
    ['2025-06-18', '2025-06-18'],
    [newest, newest],
  ])(
    'of %s is named by every message after initialize, which names none',
    async (revision, header) => {
      proves('H3', 'H12d', 'H12h', 'H13', 'H13b')
      const driven = new DrivenChannel(inSession(revision, noStream))
      await driven.openSession(revision)
      driven.request(1, 'ping')
      await driven.ended(2)
      await driven.channel.close()
      const [opening, ...later] = driven.received
      expect(opening?.headers.has('mcp-session-id')).toBe(false)
      expect(opening?.headers.has('mcp-protocol-version')).toBe(false)
      expect(later.map(({ method }) => method).sort()).toEqual(['DELETE', 'GET', 'POST', 'POST'])
      for (const { headers } of later) {
        expect(headers.get('mcp-session-id')).toBe('abc')
        expect(headers.get('mcp-protocol-version')).toBe(header)
      }
      expect(driven.errors).toEqual([])
    },
  )

  test('starts again with another initialize', async () => {
    const driven = new DrivenChannel(inSession(newest, noStream))
    driven.request(0, 'initialize')
    await driven.ended()
    driven.request(1, 'initialize')
    await driven.ended(2)
    expect(driven.received[1]?.headers.has('mcp-session-id')).toBe(false)
  })

  test('without an id is a session all the same, and is not ended by DELETE', async () => {
    const driven = new DrivenChannel(received =>
      received.method === 'GET' ? bare(405) : reply(received, { protocolVersion: newest }),
    )
    await driven.openSession(newest)
    await driven.until(({ received }) => received.length === 3)
    await driven.channel.close()
    expect(driven.received.map(({ method }) => method)).toEqual(['POST', 'POST', 'GET'])
  })

  test('whose id cannot be sent in a header is rejected', async () => {
    const driven = new DrivenChannel(inSession(newest, noStream, 'a b'))
    driven.request(0, 'initialize')
    await driven.ended()
    expect(driven.failures).toMatchObject([{ id: 0, error: { code: 'framing' } }])
  })

  test('that is lost closes the channel, and requests rejected for it count as not sent', async () => {
    const waiting: ((response: Response) => void)[] = []
    const driven = new DrivenChannel(
      inSession(newest, received => {
        if (received.method === 'GET') return bare(405)
        return new Promise(resolve => waiting.push(resolve))
      }),
    )
    await driven.openSession(newest)
    driven.request(1, 'tools/call')
    driven.request(2, 'tools/call')
    await driven.until(() => waiting.length === 2)
    waiting[0]?.(bare(404))
    await settle()
    expect(driven.closed).toBeUndefined()
    expect(() => driven.request(3, 'ping')).toThrow('closed')
    waiting[1]?.(bare(404))
    await driven.until(({ closed }) => closed !== undefined)
    expect(driven.failures).toMatchObject([
      { id: 1, error: { code: 'closed' } },
      { id: 2, error: { code: 'closed' } },
    ])
    expect(driven.closed?.cause?.message).toContain('session')
    await driven.channel.close()
    expect(driven.received.some(({ method }) => method === 'DELETE')).toBe(false)
  })

  test('that is lost takes no more requests, and closes when the others are answered', async () => {
    const events = new Events()
    const script = inSession(newest, received => {
      if (received.method === 'GET') return bare(405)
      return received.body.id === 2 ? bare(404) : events.response
    })
    const driven = new DrivenChannel(script)
    await driven.openSession(newest)
    driven.request(1, 'tools/call')
    driven.request(2, 'tools/call')
    await driven.until(({ failures }) => failures.length === 1)
    expect(driven.failures).toMatchObject([{ id: 2, error: { code: 'closed' } }])
    expect(() => driven.request(3, 'ping')).toThrow('closed')
    expect(driven.closed).toBeUndefined()
    events.message({ id: 1, result: {} })
    await driven.ended(2)
    events.end()
    await driven.until(({ closed }) => closed !== undefined)
    expect(driven.arrivals[1]).toMatchObject({ arrival: { id: 1 } })
  })

  test.each(['a notification', 'the stream'])('that is lost is noticed by %s too', async what => {
    let isGone = what === 'the stream'
    const opened = inSession(newest, received =>
      received.method === 'GET' && isGone ? bare(404) : bare(405),
    )
    const driven = new DrivenChannel((received, count) =>
      isGone && received.body?.method === 'notifications/progress'
        ? bare(404)
        : opened(received, count),
    )
    await driven.openSession(newest)
    if (!isGone) {
      await settle()
      isGone = true
      driven.notify('notifications/progress')
    }
    await driven.until(({ closed }) => closed !== undefined)
    expect(driven.closed?.cause?.message).toContain('session')
  })

  test('is not waited for when it does not end', async () => {
    const clock = fakeClock()
    const script = inSession(newest, received =>
      received.method === 'GET' ? bare(405) : new Promise<Response>(() => {}),
    )
    const driven = new DrivenChannel(script, { clock })
    await driven.openSession(newest)
    await settle()
    const closing = driven.channel.close()
    await driven.until(({ received }) => received.some(({ method }) => method === 'DELETE'))
    clock.advance(limits.httpCloseMs.default)
    await closing
    expect(driven.closed).toEqual({ cause: undefined })
    expect(clock.pending).toBe(0)
  })

  test('is cancelled by a message, not by disconnecting: the response is cut later, and not resumed', async () => {
    const clock = fakeClock()
    const events: Events[] = []
    const driven = new DrivenChannel(
      inSession(newest, ({ method, signal }) => {
        if (method !== 'POST') return bare(405)
        events.push(new Events(signal).message(progress, 'x'))
        return events[0]?.response ?? bare(500)
      }),
      { clock },
    )
    await driven.openSession(newest)
    driven.request(1, 'tools/call')
    await driven.ended(2)
    driven.channel.abandon?.(1)
    await settle()
    expect(events[0]?.isLeft).toBe(false)
    clock.advance(limits.httpCloseMs.default)
    await settle()
    expect(events[0]?.isLeft).toBe(true)
    expect(driven.failures).toEqual([])
    expect(driven.received.filter(({ headers }) => headers.has('last-event-id'))).toEqual([])
  })

  test('may send server requests in a response, and gets their responses by POST', async () => {
    const events = new Events().message({ id: 'q', method: 'roots/list' })
    const script = streams([events])
    const driven = new DrivenChannel((received, count) =>
      received.body?.result === undefined ? script(received, count) : bare(202),
    )
    await driven.openSession(newest)
    driven.request(1, 'tools/call')
    await driven.ended(2)
    expect(driven.arrivals[1]).toEqual({
      arrival: { type: 'request', id: 'q', method: 'roots/list', params: undefined },
      envelope: { about: 1 },
    })
    void driven.channel.send({ type: 'result', id: 'q', result: { roots: [] } })
    await settle()
    expect(driven.received.at(-1)?.body).toMatchObject({ id: 'q', result: { roots: [] } })
    expect(driven.errors).toEqual([])
  })
})

describe('a response that breaks off', () => {
  test('is resumed where it did, after the delay that the server received for', async () => {
    proves('H10c', 'H11c', 'H11d')
    const clock = fakeClock()
    const first = new Events().write('id: e1\nretry: 500\ndata:\n\n').message(progress, 'e2')
    const second = new Events().message({ id: 1, result: {} }, 'e3')
    const driven = new DrivenChannel(streams([first, second]), { clock })
    await driven.openSession(newest)
    driven.request(1, 'tools/call')
    await driven.ended(2)
    first.break()
    await settle()
    clock.advance(499)
    await settle()
    const resumed = () => driven.received.filter(({ headers }) => headers.has('last-event-id'))
    expect(resumed()).toHaveLength(0)
    clock.advance(1)
    await driven.ended(3)
    expect(resumed().map(lastEventId)).toEqual(['e2'])
    expect(driven.arrivals[2]).toMatchObject({ arrival: { id: 1 }, envelope: { about: 1 } })
    second.end()
    await settle()
    expect(clock.pending).toBe(0)
  })

  test.each([
    [0, limits.streamRetryMinMs.default],
    [99_999_999, limits.reconnectMaxMs.default],
  ])('with a delay of %i is resumed after %i', async (received, waited) => {
    const clock = fakeClock()
    const first = new Events().write(`id: ä\nretry: ${received}\ndata:\n\n`)
    const second = new Events().message({ id: 1, result: {} })
    const driven = new DrivenChannel(streams([first, second]), { clock })
    await driven.openSession(newest)
    driven.request(1, 'tools/call')
    first.end()
    await settle()
    await settle()
    clock.advance(waited - 1)
    await settle()
    expect(driven.arrivals).toHaveLength(1)
    clock.advance(1)
    await driven.ended(2)
    expect(driven.received.map(lastEventId)).toContain('Ã¤')
  })

  test('fails where it had no id', async () => {
    const events = new Events().message(progress)
    const driven = new DrivenChannel(streams([events]))
    await driven.openSession(newest)
    driven.request(1, 'tools/call')
    await driven.ended(2)
    events.end()
    await driven.ended(3)
    expect(driven.failures).toMatchObject([{ id: 1, error: { code: 'outcome-unknown' } }])
    expect(driven.received.filter(({ headers }) => headers.has('last-event-id'))).toEqual([])
  })

  test('fails when resuming is rejected', async () => {
    const clock = fakeClock()
    const first = new Events().write('id: e1\nretry: 100\ndata:\n\n')
    let isFirst = true
    const script = inSession(newest, received => {
      if (received.method === 'GET') return bare(received.headers.has('last-event-id') ? 400 : 405)
      isFirst = false
      return first.response
    })
    const driven = new DrivenChannel(script, { clock })
    await driven.openSession(newest)
    driven.request(1, 'tools/call')
    first.end()
    await driven.until(() => !isFirst)
    await settle()
    clock.advance(100)
    await driven.ended(2)
    expect(driven.failures).toMatchObject([{ id: 1, error: { code: 'outcome-unknown' } }])
    expect(driven.closed).toBeUndefined()
  })

  test('is lost after the maximum number of attempts in a row', async () => {
    const clock = fakeClock()
    const first = new Events().write('id: e1\ndata:\n\n')
    const script = inSession(newest, received => {
      if (received.method === 'POST') return first.response
      return bare(received.headers.has('last-event-id') ? 503 : 405)
    })
    const driven = new DrivenChannel(script, { clock, retry: { random: () => 1 } })
    await driven.openSession(newest)
    driven.request(1, 'tools/call')
    first.end()
    for (let round = 0; driven.failures.length === 0 && round < 100; round++) {
      await settle()
      clock.advance(limits.reconnectMaxMs.default)
    }
    const attempts = driven.received.filter(({ headers }) => headers.has('last-event-id'))
    expect(attempts).toHaveLength(limits.streamReconnects.default)
    expect(driven.failures).toMatchObject([{ error: { code: 'outcome-unknown' } }])
  })

  test('and is not ended after its reply is cancelled', async () => {
    const clock = fakeClock()
    const events: Events[] = []
    const driven = new DrivenChannel(
      inSession(newest, ({ method, signal }) => {
        if (method !== 'POST') return bare(405)
        events.push(new Events(signal).message({ id: 1, result: {} }))
        return events[0]?.response ?? bare(500)
      }),
      { clock },
    )
    await driven.openSession(newest)
    driven.request(1, 'tools/call')
    await driven.ended(2)
    await settle()
    expect(events[0]?.isLeft).toBe(false)
    clock.advance(limits.httpCloseMs.default)
    await settle()
    expect(events[0]?.isLeft).toBe(true)
  })
})

describe('the standalone stream', () => {
  const change = { method: 'notifications/tools/list_changed' }

  test('delivers messages, and is reopened where it broke off', async () => {
    const clock = fakeClock()
    const opened: Events[] = []
    const script = inSession(newest, ({ signal }) => {
      const events = new Events(signal)
      opened.push(events)
      return events.response
    })
    const driven = new DrivenChannel(script, { clock, retry: { random: () => 1 } })
    await driven.openSession(newest)
    await driven.until(() => opened.length === 1)
    opened[0]?.message(change, 'e9')
    await driven.ended(2)
    expect(driven.arrivals[1]).toMatchObject({ arrival: change, envelope: {} })
    opened[0]?.break()
    await settle()
    clock.advance(limits.reconnectMs.default)
    await driven.until(() => opened.length === 2)
    expect(driven.received.filter(({ method }) => method === 'GET').map(lastEventId)).toEqual([
      null,
      'e9',
    ])
    opened[1]?.message(change)
    await driven.ended(3)
    void driven.channel.close()
    await settle()
    expect(opened[1]?.isLeft).toBe(true)
  })

  test('may carry a reply, which settles its request', async () => {
    const events = new Events()
    const first = new Events()
    const driven = new DrivenChannel(streams([first], () => events.response))
    await driven.openSession(newest)
    driven.request(1, 'tools/call')
    await settle()
    events.message({ id: 1, result: {} }).write('data: {\n\n')
    await driven.until(({ arrivals, errors }) => arrivals.length === 2 && errors.length === 1)
    first.end()
    await settle()
    expect(driven.failures).toEqual([])
  })

  test.each([400, 406, 501])('that is rejected with %i is not requested again', async status => {
    const driven = new DrivenChannel(inSession(newest, () => bare(status)))
    await driven.openSession(newest)
    await driven.until(({ errors }) => errors.length === 1)
    expect(driven.received.filter(({ method }) => method === 'GET')).toHaveLength(1)
    expect(driven.closed).toBeUndefined()
    await driven.channel.close()
  })

  test('that cannot be reopened closes the channel; one that always ends does not', async () => {
    for (const isLost of [true, false]) {
      const clock = fakeClock()
      let count = 0
      const script = inSession(newest, ({ signal }) => {
        if (count++ > 0 && isLost) return bare(503)
        return new Events(signal).end()
      })
      const driven = new DrivenChannel(script, { clock })
      await driven.openSession(newest)
      for (let round = 0; round < 20; round++) {
        await settle()
        clock.advance(limits.reconnectMaxMs.default)
      }
      expect(count).toBe(limits.streamReconnects.default + 1)
      expect(driven.closed !== undefined).toBe(isLost)
      expect(driven.errors).toHaveLength(isLost ? 0 : 1)
    }
  })

  test('with an event over the limit closes the channel', async () => {
    const events = new Events()
    const driven = new DrivenChannel(
      inSession(newest, () => events.response),
      { maxEventBytes: 100 },
    )
    await driven.openSession(newest)
    events.write(`data: ${'x'.repeat(200)}`)
    await driven.until(({ closed }) => closed !== undefined)
    expect(driven.closed?.cause).toMatchObject({ code: 'too-large' })
  })
})

function lastEventId({ headers }: ReceivedRequest): string | null {
  return headers.get('last-event-id')
}
