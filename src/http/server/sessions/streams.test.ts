import { describe, expect, test } from 'vitest'
import { proves } from '../../../../test/requirements.ts'
import { FakeReply, httpRequest } from '../../../../test/support/http.ts'
import { said, stage } from '../../../../test/support/http-server.ts'
import { both, call, openSession, type Player } from '../../../../test/support/http-session.ts'
import { fakeClock } from '../../../testing/fake-clock.ts'
import { limits } from '../../../util/limits/limits.ts'
import { Sessions, type SessionsOptions } from './sessions.ts'

function open(options?: SessionsOptions) {
  const on = stage()
  return { ...on, sessions: new Sessions(on.server, options) }
}

/** Changes the list of tools, of which every session is notified. */
async function change(client: Player, { settle }: { settle(): Promise<void> }): Promise<void> {
  await client.post(call(1, 'change')).answered()
  await settle()
}

const lastId = (reply: FakeReply): string => reply.events.at(-1)?.id ?? ''
const kinds = (reply: FakeReply) => reply.messages.map(one => one.method ?? said(one))
const changed = 'notifications/tools/list_changed'

describe('the standalone stream', () => {
  test('gets changes, and a POST does not', async () => {
    proves('H7b', 'H8c', 'H8d', 'H9')
    const on = open()
    const client = await openSession(on.sessions)
    const stream = client.get()
    const reply = client.post(call(1, 'work', { word: 'a' }))
    await change(client, on)
    on.gate('a').resolve()
    await reply.answered()
    expect(kinds(stream)).toEqual([changed])
    expect(kinds(reply)).toEqual(['notifications/progress', 'notifications/progress', 'a'])
  })

  test.each([true, false])(
    'gets what was sent before it was opened (resumable: %s)',
    async resumable => {
      const on = open({ resumable })
      const client = await openSession(on.sessions)
      await change(client, on)
      const stream = client.get()
      expect(kinds(stream)).toEqual([changed])
      stream.leave()
      expect(kinds(client.get())).toEqual([])
    },
  )

  test('buffers no more than the limit', async () => {
    const on = open({ events: { maxStreamEvents: 2 } })
    const client = await openSession(on.sessions)
    for (let i = 0; i < 4; i++) await change(client, on)
    const stream = client.get()
    expect(kinds(stream)).toEqual([changed, changed])
    // Events that were dropped before the first connection are not a gap in the stream.
    stream.leave()
    expect(client.get(stream.events[0]?.id).status).toBe(200)
  })

  test('exists once: a second one is rejected, and the first continues', async () => {
    const on = open()
    const client = await openSession(on.sessions)
    const first = client.get()
    const second = client.get()
    expect([second.status, second.json.error.code]).toEqual([409, -32000])
    await change(client, on)
    expect([kinds(first), first.isEnded]).toEqual([[changed], false])
  })

  test('belongs to its own session only', async () => {
    const on = open()
    const [one, two] = [await openSession(on.sessions), await openSession(on.sessions)]
    const streams = [one.get(), two.get()]
    on.gate('a').resolve()
    await one.post(call(1, 'work', { word: 'a' })).answered()
    expect(streams.map(kinds)).toEqual([[], []])
  })

  test('resumes where it was lost, with each event once', async () => {
    const on = open()
    const client = await openSession(on.sessions)
    const first = client.get()
    await change(client, on)
    first.leave()
    await change(client, on)
    await change(client, on)
    const second = client.get(lastId(first))
    await change(client, on)
    expect([kinds(first).length, kinds(second).length]).toEqual([1, 3])
    const ids = [...first.events, ...second.events].map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('resumes from its priming event', async () => {
    const on = open()
    const client = await openSession(on.sessions)
    await change(client, on)
    const first = client.get()
    const [priming] = first.events
    first.leave()
    expect(kinds(client.get(priming?.id))).toEqual([changed])
  })
})

describe('a lost stream of a request', () => {
  test.each(['2025-06-18', '2025-11-25'])(
    'cancels nothing and is resumed by GET (%s)',
    async revision => {
      proves('H7e', 'H10d')
      const on = open()
      const client = await openSession(on.sessions, revision)
      const reply = client.post(call('r', 'work', { word: 'a' }))
      await reply.until(({ messages }) => messages.length === 1)
      reply.leave()
      on.gate('a').resolve()
      await on.settle()
      const stream = client.get(lastId(reply))
      await stream.answered()
      expect(kinds(stream)).toEqual(['notifications/progress', 'a'])
      expect(stream.messages[1].id).toBe('r')
      expect(on.aborted).toEqual([])
    },
  )

  test('is resumed while the request is still in flight', async () => {
    proves('H8d', 'H10d')
    const on = open()
    const client = await openSession(on.sessions)
    const reply = client.post(call(1, 'work', { word: 'a' }))
    await reply.until(({ messages }) => messages.length === 1)
    reply.leave()
    const stream = client.get(lastId(reply))
    expect([kinds(stream), stream.isEnded]).toEqual([[], false])
    await change(client, on)
    on.gate('a').resolve()
    await stream.answered()
    expect(kinds(stream)).toEqual(['notifications/progress', 'a'])
    expect(kinds(client.get())).toEqual([changed])
  })

  test('moves to the new connection, if the old one was not seen to end', async () => {
    proves('H9')
    const on = open()
    const client = await openSession(on.sessions)
    const reply = client.post(call(1, 'work', { word: 'a' }))
    await reply.until(({ messages }) => messages.length === 1)
    const stream = client.get(lastId(reply))
    on.gate('a').resolve()
    await stream.answered()
    expect(reply.isEnded).toBe(true)
    expect([kinds(reply).length, kinds(stream).length]).toEqual([1, 2])
  })

  test('can be resumed from any event, also after its end', async () => {
    const on = open()
    const client = await openSession(on.sessions)
    on.gate('a').resolve()
    const reply = await client.post(call(1, 'work', { word: 'a' })).answered()
    const again = reply.events.map(({ id }) => client.get(id))
    expect(again.map(stream => kinds(stream).length)).toEqual([3, 2, 1, 0])
    expect(again.every(stream => stream.isEnded)).toBe(true)
  })

  test('may be lost at any event, and the client misses and repeats none', async () => {
    for (let events = 1; events <= 4; events++) {
      const on = open()
      const client = await openSession(on.sessions)
      const reply = new FakeReply()
      reply.leavesAfter = events
      client.session.post(call(1, 'work', { word: 'a' }), {
        request: httpRequest(),
        reply,
        accepts: both,
      })
      on.gate('a').resolve()
      await reply.until(one => one.isFinished)
      const stream = await client.get(lastId(reply)).answered()
      const seen = [...reply.messages, ...stream.messages]
      expect(seen.map(one => one.params?.progress ?? said(one))).toEqual([1, 2, 'a'])
    }
  })

  test('of a client that got no event cannot be resumed', async () => {
    const on = open()
    const client = await openSession(on.sessions)
    const reply = client.post(call(1, 'wait', { word: 'a' }))
    reply.leave()
    on.gate('a').resolve()
    await on.settle()
    expect([reply.status, client.session.isBusy]).toEqual([undefined, false])
    expect(kinds(client.get())).toEqual([])
  })

  test('cannot be resumed where that is switched off', async () => {
    const on = open({ resumable: false })
    const client = await openSession(on.sessions)
    on.gate('a').resolve()
    const reply = await client.post(call(1, 'work', { word: 'a' })).answered()
    expect(reply.events.map(({ id, data }) => [id, data === ''])).toEqual(
      reply.events.map(() => ['', false]),
    )
    expect(client.get('0-1-1').status).toBe(400)
  })
})

describe('an event id', () => {
  async function answered(options?: SessionsOptions) {
    const on = open(options)
    const client = await openSession(on.sessions)
    on.gate('a').resolve()
    const reply = await client.post(call(1, 'work', { word: 'a' })).answered()
    return { on, client, reply, id: lastId(reply) }
  }

  test('of another session is rejected, and that session is not affected', async () => {
    const { on, reply } = await answered()
    const other = await openSession(on.sessions)
    await other.post(call(1, 'work', { word: 'a' })).answered()
    for (const { id } of reply.events) expect(other.get(id).status).toBe(400)
  })

  test.each([
    ['made up', () => 'x'],
    ['of no stream', (id: string) => id.replace(/-\d+-/, '-99-')],
    ['of the future', (id: string) => id.replace(/\d+$/, '99')],
    ['with something behind', (id: string) => `${id}x`],
    ['of enormous numbers', (id: string) => id.replace(/\d+$/, '9'.repeat(400))],
    ['negative', (id: string) => id.replace(/\d+$/, '-1')],
  ])('%s is refused with 400', async (_, forge) => {
    const { client, id } = await answered()
    const stream = client.get(forge(id))
    expect([stream.status, stream.json.error.code]).toEqual([400, -32000])
  })

  test('that is too old is rejected', async () => {
    const clock = fakeClock()
    const { client, id } = await answered({ clock, events: { maxAgeMs: 1000 } })
    expect(client.get(id).status).toBe(200)
    clock.advance(1100)
    expect(client.get(id).status).toBe(400)
  })

  test('after which an event was dropped is rejected, rather than leaving that event out', async () => {
    const { client, reply } = await answered({ events: { maxStreamEvents: 1 } })
    expect(reply.events.map(({ id }) => client.get(id).status)).toEqual([400, 400, 200, 200])
  })
})

describe('closing a connection for polling', () => {
  test('says when to reconnect, and the rest follows there', async () => {
    proves('H11b')
    const on = open({ retryMs: 500 })
    on.server.use(next => (message, exchange) => {
      const { about } = exchange.envelope
      if (about !== undefined && message.method === 'tools/call') abouts.push(about)
      return next(message, exchange)
    })
    const abouts: (string | number | bigint)[] = []
    const client = await openSession(on.sessions)
    const reply = client.post(call(1, 'wait', { word: 'a' }))
    expect(client.session.poll(abouts[0])).toBe(true)
    expect([reply.isEnded, reply.retryMs, reply.messages]).toEqual([true, 500, []])
    const ids = reply.events.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const stream = client.get(lastId(reply))
    on.gate('a').resolve()
    await stream.answered()
    expect(kinds(stream)).toEqual(['a'])
  })

  test('is what a tool does by closeStream, where that is possible', async () => {
    const on = open()
    const hungUp: boolean[] = []
    const gate = on.gate('slow')
    on.server.tool('slow', {}, async (_, ctx) => {
      hungUp.push(ctx.closeStream(), ctx.closeStream())
      await gate.promise
      return 'late'
    })
    const client = await openSession(on.sessions)
    const reply = client.post(call(1, 'slow', {}))
    expect([reply.isEnded, reply.messages]).toEqual([true, []])
    const stream = client.get(lastId(reply))
    gate.resolve()
    await stream.answered()
    expect(kinds(stream)).toEqual(['late'])

    const older = await openSession(on.sessions, '2025-06-18')
    await older.post(call(1, 'slow', {})).answered()
    expect(hungUp).toEqual([true, false, false, false])
  })

  test('works for the standalone stream, too', async () => {
    proves('H8e')
    const on = open()
    const client = await openSession(on.sessions)
    expect(client.session.poll()).toBe(false)
    const stream = client.get()
    expect(client.session.poll()).toBe(true)
    await change(client, on)
    expect([stream.isEnded, stream.retryMs]).toEqual([true, limits.streamRetryMs.default])
    expect(kinds(client.get(lastId(stream)))).toEqual([changed])
  })

  test.each([
    ['a client that does not know it', '2025-06-18', {}],
    ['streams that cannot be picked up', '2025-11-25', { resumable: false }],
  ])('does nothing for %s', async (_, revision, options) => {
    const client = await openSession(open(options).sessions, revision)
    const stream = client.get()
    expect([client.session.poll(), stream.isEnded]).toEqual([false, false])
  })
})
