import { describe, expect, test } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import {
  type Asked,
  bare,
  Events,
  inSession,
  reply,
  type Script,
  settle,
  Talk,
} from '../../../test/support/fake-fetch.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../../util/limits/limits.ts'

const newest = '2025-11-25'
const progress = { method: 'notifications/progress', params: { progressToken: 1, progress: 1 } }
const noStream: Script = asked => (asked.method === 'POST' ? reply(asked) : bare(405))

/** A session in which the POST of request 1 is answered by one stream after the other. */
function streams(list: readonly Events[], unsolicited: () => Response = () => bare(405)): Script {
  let at = 0
  return inSession(newest, asked => {
    const isMain =
      asked.method === 'POST' ? asked.body.id === 1 : asked.headers.has('last-event-id')
    if (asked.method === 'DELETE') return bare(204)
    if (isMain) return list[at++]?.response ?? bare(500)
    return asked.method === 'GET' ? unsolicited() : reply(asked)
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
      const talk = new Talk(inSession(revision, noStream))
      await talk.openSession(revision)
      talk.request(1, 'ping')
      await talk.ended(2)
      await talk.channel.close()
      const [opening, ...later] = talk.asked
      expect(opening?.headers.has('mcp-session-id')).toBe(false)
      expect(opening?.headers.has('mcp-protocol-version')).toBe(false)
      expect(later.map(({ method }) => method).sort()).toEqual(['DELETE', 'GET', 'POST', 'POST'])
      for (const { headers } of later) {
        expect(headers.get('mcp-session-id')).toBe('abc')
        expect(headers.get('mcp-protocol-version')).toBe(header)
      }
      expect(talk.errors).toEqual([])
    },
  )

  test('starts again with another initialize', async () => {
    const talk = new Talk(inSession(newest, noStream))
    talk.request(0, 'initialize')
    await talk.ended()
    talk.request(1, 'initialize')
    await talk.ended(2)
    expect(talk.asked[1]?.headers.has('mcp-session-id')).toBe(false)
  })

  test('without an id is a session all the same, and is not ended by DELETE', async () => {
    const talk = new Talk(asked =>
      asked.method === 'GET' ? bare(405) : reply(asked, { protocolVersion: newest }),
    )
    await talk.openSession(newest)
    await talk.until(({ asked }) => asked.length === 3)
    await talk.channel.close()
    expect(talk.asked.map(({ method }) => method)).toEqual(['POST', 'POST', 'GET'])
  })

  test('whose id cannot be sent in a header is rejected', async () => {
    const talk = new Talk(inSession(newest, noStream, 'a b'))
    talk.request(0, 'initialize')
    await talk.ended()
    expect(talk.failures).toMatchObject([{ id: 0, error: { code: 'framing' } }])
  })

  test('that is lost closes the channel, and requests rejected for it count as not sent', async () => {
    const waiting: ((response: Response) => void)[] = []
    const talk = new Talk(
      inSession(newest, asked => {
        if (asked.method === 'GET') return bare(405)
        return new Promise(resolve => waiting.push(resolve))
      }),
    )
    await talk.openSession(newest)
    talk.request(1, 'tools/call')
    talk.request(2, 'tools/call')
    await talk.until(() => waiting.length === 2)
    waiting[0]?.(bare(404))
    await settle()
    expect(talk.closed).toBeUndefined()
    expect(() => talk.request(3, 'ping')).toThrow('closed')
    waiting[1]?.(bare(404))
    await talk.until(({ closed }) => closed !== undefined)
    expect(talk.failures).toMatchObject([
      { id: 1, error: { code: 'closed' } },
      { id: 2, error: { code: 'closed' } },
    ])
    expect(talk.closed?.cause?.message).toContain('session')
    await talk.channel.close()
    expect(talk.asked.some(({ method }) => method === 'DELETE')).toBe(false)
  })

  test('that is lost takes no more requests, and closes when the others are answered', async () => {
    const events = new Events()
    const script = inSession(newest, asked => {
      if (asked.method === 'GET') return bare(405)
      return asked.body.id === 2 ? bare(404) : events.response
    })
    const talk = new Talk(script)
    await talk.openSession(newest)
    talk.request(1, 'tools/call')
    talk.request(2, 'tools/call')
    await talk.until(({ failures }) => failures.length === 1)
    expect(talk.failures).toMatchObject([{ id: 2, error: { code: 'closed' } }])
    expect(() => talk.request(3, 'ping')).toThrow('closed')
    expect(talk.closed).toBeUndefined()
    events.message({ id: 1, result: {} })
    await talk.ended(2)
    events.end()
    await talk.until(({ closed }) => closed !== undefined)
    expect(talk.arrivals[1]).toMatchObject({ arrival: { id: 1 } })
  })

  test.each(['a notification', 'the stream'])('that is lost is noticed by %s too', async what => {
    let isGone = what === 'the stream'
    const opened = inSession(newest, asked =>
      asked.method === 'GET' && isGone ? bare(404) : bare(405),
    )
    const talk = new Talk((asked, count) =>
      isGone && asked.body?.method === 'notifications/progress' ? bare(404) : opened(asked, count),
    )
    await talk.openSession(newest)
    if (!isGone) {
      await settle()
      isGone = true
      talk.notify('notifications/progress')
    }
    await talk.until(({ closed }) => closed !== undefined)
    expect(talk.closed?.cause?.message).toContain('session')
  })

  test('is not waited for when it does not end', async () => {
    const clock = fakeClock()
    const script = inSession(newest, asked =>
      asked.method === 'GET' ? bare(405) : new Promise<Response>(() => {}),
    )
    const talk = new Talk(script, { clock })
    await talk.openSession(newest)
    await settle()
    const closing = talk.channel.close()
    await talk.until(({ asked }) => asked.some(({ method }) => method === 'DELETE'))
    clock.advance(limits.httpCloseMs.default)
    await closing
    expect(talk.closed).toEqual({ cause: undefined })
    expect(clock.pending).toBe(0)
  })

  test('is cancelled by a message, not by disconnecting: the response is cut later, and not resumed', async () => {
    const clock = fakeClock()
    const events: Events[] = []
    const talk = new Talk(
      inSession(newest, ({ method, signal }) => {
        if (method !== 'POST') return bare(405)
        events.push(new Events(signal).message(progress, 'x'))
        return events[0]?.response ?? bare(500)
      }),
      { clock },
    )
    await talk.openSession(newest)
    talk.request(1, 'tools/call')
    await talk.ended(2)
    talk.channel.abandon?.(1)
    await settle()
    expect(events[0]?.isLeft).toBe(false)
    clock.advance(limits.httpCloseMs.default)
    await settle()
    expect(events[0]?.isLeft).toBe(true)
    expect(talk.failures).toEqual([])
    expect(talk.asked.filter(({ headers }) => headers.has('last-event-id'))).toEqual([])
  })

  test('may send server requests in a response, and gets their responses by POST', async () => {
    const events = new Events().message({ id: 'q', method: 'roots/list' })
    const script = streams([events])
    const talk = new Talk((asked, count) =>
      asked.body?.result === undefined ? script(asked, count) : bare(202),
    )
    await talk.openSession(newest)
    talk.request(1, 'tools/call')
    await talk.ended(2)
    expect(talk.arrivals[1]).toEqual({
      arrival: { type: 'request', id: 'q', method: 'roots/list', params: undefined },
      envelope: { about: 1 },
    })
    void talk.channel.send({ type: 'result', id: 'q', result: { roots: [] } })
    await settle()
    expect(talk.asked.at(-1)?.body).toMatchObject({ id: 'q', result: { roots: [] } })
    expect(talk.errors).toEqual([])
  })
})

describe('a response that breaks off', () => {
  test('is resumed where it did, after the delay that the server asked for', async () => {
    proves('H10c', 'H11c', 'H11d')
    const clock = fakeClock()
    const first = new Events().write('id: e1\nretry: 500\ndata:\n\n').message(progress, 'e2')
    const second = new Events().message({ id: 1, result: {} }, 'e3')
    const talk = new Talk(streams([first, second]), { clock })
    await talk.openSession(newest)
    talk.request(1, 'tools/call')
    await talk.ended(2)
    first.break()
    await settle()
    clock.advance(499)
    await settle()
    const resumed = () => talk.asked.filter(({ headers }) => headers.has('last-event-id'))
    expect(resumed()).toHaveLength(0)
    clock.advance(1)
    await talk.ended(3)
    expect(resumed().map(lastEventId)).toEqual(['e2'])
    expect(talk.arrivals[2]).toMatchObject({ arrival: { id: 1 }, envelope: { about: 1 } })
    second.end()
    await settle()
    expect(clock.pending).toBe(0)
  })

  test.each([
    [0, limits.streamRetryMinMs.default],
    [99_999_999, limits.reconnectMaxMs.default],
  ])('with a delay of %i is resumed after %i', async (asked, waited) => {
    const clock = fakeClock()
    const first = new Events().write(`id: ä\nretry: ${asked}\ndata:\n\n`)
    const second = new Events().message({ id: 1, result: {} })
    const talk = new Talk(streams([first, second]), { clock })
    await talk.openSession(newest)
    talk.request(1, 'tools/call')
    first.end()
    await settle()
    await settle()
    clock.advance(waited - 1)
    await settle()
    expect(talk.arrivals).toHaveLength(1)
    clock.advance(1)
    await talk.ended(2)
    expect(talk.asked.map(lastEventId)).toContain('Ã¤')
  })

  test('fails where it had no id', async () => {
    const events = new Events().message(progress)
    const talk = new Talk(streams([events]))
    await talk.openSession(newest)
    talk.request(1, 'tools/call')
    await talk.ended(2)
    events.end()
    await talk.ended(3)
    expect(talk.failures).toMatchObject([{ id: 1, error: { code: 'outcome-unknown' } }])
    expect(talk.asked.filter(({ headers }) => headers.has('last-event-id'))).toEqual([])
  })

  test('fails when resuming is rejected', async () => {
    const clock = fakeClock()
    const first = new Events().write('id: e1\nretry: 100\ndata:\n\n')
    let isFirst = true
    const script = inSession(newest, asked => {
      if (asked.method === 'GET') return bare(asked.headers.has('last-event-id') ? 400 : 405)
      isFirst = false
      return first.response
    })
    const talk = new Talk(script, { clock })
    await talk.openSession(newest)
    talk.request(1, 'tools/call')
    first.end()
    await talk.until(() => !isFirst)
    await settle()
    clock.advance(100)
    await talk.ended(2)
    expect(talk.failures).toMatchObject([{ id: 1, error: { code: 'outcome-unknown' } }])
    expect(talk.closed).toBeUndefined()
  })

  test('is lost after the maximum number of attempts in a row', async () => {
    const clock = fakeClock()
    const first = new Events().write('id: e1\ndata:\n\n')
    const script = inSession(newest, asked => {
      if (asked.method === 'POST') return first.response
      return bare(asked.headers.has('last-event-id') ? 503 : 405)
    })
    const talk = new Talk(script, { clock, retry: { random: () => 1 } })
    await talk.openSession(newest)
    talk.request(1, 'tools/call')
    first.end()
    for (let round = 0; talk.failures.length === 0 && round < 100; round++) {
      await settle()
      clock.advance(limits.reconnectMaxMs.default)
    }
    const attempts = talk.asked.filter(({ headers }) => headers.has('last-event-id'))
    expect(attempts).toHaveLength(limits.streamReconnects.default)
    expect(talk.failures).toMatchObject([{ error: { code: 'outcome-unknown' } }])
  })

  test('and is not ended after its reply is cancelled', async () => {
    const clock = fakeClock()
    const events: Events[] = []
    const talk = new Talk(
      inSession(newest, ({ method, signal }) => {
        if (method !== 'POST') return bare(405)
        events.push(new Events(signal).message({ id: 1, result: {} }))
        return events[0]?.response ?? bare(500)
      }),
      { clock },
    )
    await talk.openSession(newest)
    talk.request(1, 'tools/call')
    await talk.ended(2)
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
    const talk = new Talk(script, { clock, retry: { random: () => 1 } })
    await talk.openSession(newest)
    await talk.until(() => opened.length === 1)
    opened[0]?.message(change, 'e9')
    await talk.ended(2)
    expect(talk.arrivals[1]).toMatchObject({ arrival: change, envelope: {} })
    opened[0]?.break()
    await settle()
    clock.advance(limits.reconnectMs.default)
    await talk.until(() => opened.length === 2)
    expect(talk.asked.filter(({ method }) => method === 'GET').map(lastEventId)).toEqual([
      null,
      'e9',
    ])
    opened[1]?.message(change)
    await talk.ended(3)
    void talk.channel.close()
    await settle()
    expect(opened[1]?.isLeft).toBe(true)
  })

  test('may carry a reply, which settles its request', async () => {
    const events = new Events()
    const first = new Events()
    const talk = new Talk(streams([first], () => events.response))
    await talk.openSession(newest)
    talk.request(1, 'tools/call')
    await settle()
    events.message({ id: 1, result: {} }).write('data: {\n\n')
    await talk.until(({ arrivals, errors }) => arrivals.length === 2 && errors.length === 1)
    first.end()
    await settle()
    expect(talk.failures).toEqual([])
  })

  test.each([400, 406, 501])('that is rejected with %i is not requested again', async status => {
    const talk = new Talk(inSession(newest, () => bare(status)))
    await talk.openSession(newest)
    await talk.until(({ errors }) => errors.length === 1)
    expect(talk.asked.filter(({ method }) => method === 'GET')).toHaveLength(1)
    expect(talk.closed).toBeUndefined()
    await talk.channel.close()
  })

  test('that cannot be reopened closes the channel; one that always ends does not', async () => {
    for (const isLost of [true, false]) {
      const clock = fakeClock()
      let count = 0
      const script = inSession(newest, ({ signal }) => {
        if (count++ > 0 && isLost) return bare(503)
        return new Events(signal).end()
      })
      const talk = new Talk(script, { clock })
      await talk.openSession(newest)
      for (let round = 0; round < 20; round++) {
        await settle()
        clock.advance(limits.reconnectMaxMs.default)
      }
      expect(count).toBe(limits.streamReconnects.default + 1)
      expect(talk.closed !== undefined).toBe(isLost)
      expect(talk.errors).toHaveLength(isLost ? 0 : 1)
    }
  })

  test('with an event over the limit closes the channel', async () => {
    const events = new Events()
    const talk = new Talk(
      inSession(newest, () => events.response),
      { maxEventBytes: 100 },
    )
    await talk.openSession(newest)
    events.write(`data: ${'x'.repeat(200)}`)
    await talk.until(({ closed }) => closed !== undefined)
    expect(talk.closed?.cause).toMatchObject({ code: 'too-large' })
  })
})

function lastEventId({ headers }: Asked): string | null {
  return headers.get('last-event-id')
}
