import { describe, expect, test } from 'vitest'
import { proves } from '../../../../test/requirements.ts'
import { FakeReply, httpRequest } from '../../../../test/support/http.ts'
import { said, stage } from '../../../../test/support/http-server.ts'
import { call, note, openSession, request } from '../../../../test/support/http-session.ts'
import { Sessions, type SessionsOptions } from './sessions.ts'

function open(options?: SessionsOptions) {
  const on = stage()
  return { ...on, sessions: new Sessions(on.server, options) }
}

const jsonOnly = { json: true, events: false }
const eventsOnly = { json: false, events: true }

describe('a POST', () => {
  test('is answered with JSON when nothing precedes the reply', async () => {
    proves('H6')
    const client = await openSession(open().sessions)
    const reply = await client.post(call(7, 'echo', { word: 'hi' })).answered()
    expect([reply.status, reply.headers, reply.isStream]).toEqual([
      200,
      { 'content-type': 'application/json' },
      false,
    ])
    expect([reply.json.id, said(reply.json)]).toEqual([7, 'hi'])
  })

  test.each([0, '', 1, '1', 2n ** 60n, 'long'.repeat(50)])(
    'is answered under its id %s',
    async id => {
      const client = await openSession(open().sessions)
      const reply = await client.post(call(id, 'echo', { word: 'hi' })).answered()
      const written = typeof id === 'string' ? JSON.stringify(id) : `${id}`
      expect(reply.body).toContain(`"id":${written},`)
    },
  )

  test('becomes an event stream when something precedes the reply, and ends with it', async () => {
    proves('H6', 'H7', 'H7c', 'H7d')
    const { sessions, gate } = open()
    const client = await openSession(sessions, '2025-06-18')
    const reply = client.post(call(7, 'work', { word: 'a' }))
    await reply.until(({ events }) => events.length === 1)
    expect(reply.isEnded).toBe(false)
    gate('a').resolve()
    await reply.answered()
    expect(reply.messages.map(one => one.params?.progress ?? said(one))).toEqual([1, 2, 'a'])
    expect(reply.events.map(({ event }) => event)).toEqual(['message', 'message', 'message'])
    expect(new Set(reply.events.map(({ id }) => id)).size).toBe(3)
  })

  test.each([
    ['2025-03-26', false],
    ['2025-06-18', false],
    ['2025-11-25', true],
  ])(
    'of revision %s has a stream that begins with an empty event: %s',
    async (revision, begins) => {
      proves('H11')
      const { sessions, gate } = open()
      const client = await openSession(sessions, revision)
      expect(client.session.revision).toBe(revision)
      gate('a').resolve()
      const posted = await client.post(call(1, 'work', { word: 'a' })).answered()
      const listened = client.get()
      expect(posted.events[0]?.data === '').toBe(begins)
      expect(listened.events.map(({ data }) => data)).toEqual(begins ? [''] : [])
      if (begins) expect(posted.events[0]?.id).not.toBe('')
    },
  )

  test('is answered with events for a client that accepts no JSON', async () => {
    const client = await openSession(open().sessions, '2025-06-18', { accepts: eventsOnly })
    const reply = await client.post(call(1, 'echo', { word: 'x' }), eventsOnly).answered()
    expect(reply.messages.map(said)).toEqual(['x'])
    expect(reply.isStream).toBe(true)
  })

  test('of a client that accepts no events gets the reply and nothing else', async () => {
    const { sessions, gate } = open()
    const client = await openSession(sessions)
    gate('a').resolve()
    const reply = await client.post(call(1, 'work', { word: 'a' }), jsonOnly).answered()
    expect(said(reply.json)).toBe('a')
    expect(client.get().messages).toEqual([])
  })

  test('of such a client sends server requests on the standalone stream', async () => {
    const { sessions } = open()
    const client = await openSession(sessions, '2025-11-25', { capabilities: { elicitation: {} } })
    const reply = client.post(call(1, 'ask'), jsonOnly)
    const stream = client.get()
    await stream.until(({ messages }) => messages.length > 0)
    const [serverRequest] = stream.messages
    expect(serverRequest.method).toBe('elicitation/create')
    const content = { action: 'accept', content: { ok: true } }
    await client.post({ type: 'result', id: serverRequest.id, result: content }).answered()
    expect(said((await reply.answered()).json)).toBe('true')
  })

  test('gets server requests on its own stream, and their responses are accepted with 202', async () => {
    proves('H5', 'H7b')
    const { sessions } = open()
    const client = await openSession(sessions, '2025-06-18', { capabilities: { elicitation: {} } })
    const other = client.get()
    const reply = client.post(call('q', 'ask'))
    await reply.until(({ messages }) => messages.length > 0)
    const result = { action: 'accept', content: { ok: true } }
    const answer = client.post({ type: 'result', id: reply.messages[0].id, result })
    expect((await answer.answered()).status).toBe(202)
    await reply.answered()
    expect([reply.messages[1].id, said(reply.messages[1])]).toEqual(['q', 'true'])
    expect(other.messages).toEqual([])
  })

  test('that needs no reply is accepted with 202 and no body', async () => {
    proves('H5')
    const client = await openSession(open().sessions)
    const reply = await client.post(note('notifications/roots/list_changed')).answered()
    expect([reply.status, reply.body]).toEqual([202, undefined])
  })

  test('whose result is not JSON is answered with an error', async () => {
    const { sessions, server } = open()
    server.use(
      next => (message, exchange) =>
        message.method === 'odd' ? { big: 1n } : next(message, exchange),
    )
    const client = await openSession(sessions)
    const reply = await client.post(request(4, 'odd')).answered()
    expect([reply.json.id, reply.json.error.code]).toEqual([4, -32603])
  })

  test('makes writers wait for a client that reads slowly', async () => {
    const { sessions, server, settle } = open()
    const written: string[] = []
    server.use(next => async (message, exchange) => {
      if (message.method !== 'flood') return next(message, exchange)
      for (const word of ['one', 'two']) {
        await exchange.notify('notifications/message', { level: 'info', data: word })
        written.push(word)
      }
      return {}
    })
    const client = await openSession(sessions)
    const reply = new FakeReply()
    let proceed = (): void => {}
    reply.room = new Promise(resolve => {
      proceed = resolve
    })
    client.session.post(request(1, 'flood'), {
      request: httpRequest(),
      reply,
      accepts: { json: true, events: true },
    })
    await settle()
    expect(written).toEqual([])
    proceed()
    await reply.answered()
    expect(written).toEqual(['one', 'two'])
  })
})

describe('ids', () => {
  test('of a hundred requests at once may all be the same', async () => {
    const { sessions, gate } = open()
    const client = await openSession(sessions)
    const words = Array.from({ length: 100 }, (_, i) => `w${i}`)
    const replies = words.map(word => client.post(call(1, 'wait', { word })))
    for (const word of [...words].reverse()) gate(word).resolve()
    await Promise.all(replies.map(reply => reply.answered()))
    expect(replies.map(reply => reply.json.id)).toEqual(words.map(() => 1))
    expect(replies.map(reply => said(reply.json))).toEqual(words)
  })

  test('1 and "1" are two requests', async () => {
    const { sessions, gate } = open()
    const client = await openSession(sessions)
    const number = client.post(call(1, 'wait', { word: 'number' }))
    const string = client.post(call('1', 'wait', { word: 'string' }))
    gate('string').resolve()
    gate('number').resolve()
    await Promise.all([number.answered(), string.answered()])
    expect([number.json.id, said(number.json)]).toEqual([1, 'number'])
    expect([string.json.id, said(string.json)]).toEqual(['1', 'string'])
  })
})

describe('cancelling', () => {
  const cancel = (requestId: unknown) => note('notifications/cancelled', { requestId })

  test.each([0, '', 1, '1'])('the request %j ends it, and its POST, without a reply', async id => {
    const { sessions, aborted } = open()
    const client = await openSession(sessions)
    const reply = client.post(call(id, 'wait', { word: 'x' }))
    await client.post(cancel(id)).answered()
    await reply.answered()
    expect(aborted).toEqual(['x'])
    expect([reply.isStream, reply.events]).toEqual([true, []])
    expect(client.session.isBusy).toBe(false)
  })

  test('ends the POST of a client that accepts no events, too', async () => {
    const client = await openSession(open().sessions)
    const reply = client.post(call(1, 'wait', { word: 'x' }), jsonOnly)
    client.post(cancel(1))
    expect([reply.status, reply.body]).toEqual([202, undefined])
  })

  test('ends the newest of several with the same id', async () => {
    const { sessions, gate, aborted } = open()
    const client = await openSession(sessions)
    const older = client.post(call(1, 'wait', { word: 'older' }))
    const newer = client.post(call(1, 'wait', { word: 'newer' }))
    client.post(cancel(1))
    gate('older').resolve()
    await Promise.all([older.answered(), newer.answered()])
    expect([aborted, said(older.json)]).toEqual([['newer'], 'older'])
  })

  test.each([
    ['its number inside', 3],
    ['another type', '1'],
    ['nothing', undefined],
    ['an object', {}],
  ])('by %s does nothing', async (_, id) => {
    const { sessions, gate, aborted } = open()
    const client = await openSession(sessions)
    const replies = ['a', 'b', 'c'].map(word => client.post(call(1, 'wait', { word })))
    expect((await client.post(cancel(id)).answered()).status).toBe(202)
    for (const word of ['a', 'b', 'c']) gate(word).resolve()
    await Promise.all(replies.map(reply => reply.answered()))
    expect([aborted, replies.map(reply => said(reply.json))]).toEqual([[], ['a', 'b', 'c']])
  })
})

describe('a batch', () => {
  const line = (message: object) => JSON.stringify({ jsonrpc: '2.0', ...message })
  const tool = (id: unknown, name: string, word: string) =>
    line({ id, method: 'tools/call', params: { name, arguments: { word } } })
  const initialized = line({ method: 'notifications/initialized' })

  test('is answered by one, in its order and under its ids, broken entries included', async () => {
    proves('H4')
    const client = await openSession(open().sessions, '2025-03-26')
    const broken = line({ id: 'b', method: 7 })
    const reply = client.postText(
      `[${tool(1, 'echo', 'x')},${broken},${initialized},${tool(1, 'echo', 'y')}]`,
    )
    await reply.answered()
    const answers: { id: unknown; error?: { code: number } }[] = reply.json
    expect(answers.map(one => [one.id, said(one as never) ?? one.error?.code])).toEqual([
      [1, 'x'],
      ['b', -32600],
      [1, 'y'],
    ])
  })

  test('without requests is accepted with 202', async () => {
    const client = await openSession(open().sessions, '2025-03-26')
    const reply = await client.postText(`[${initialized},${initialized}]`).answered()
    expect([reply.status, reply.body]).toEqual([202, undefined])
    expect(client.session.isBusy).toBe(false)
  })

  test('is refused with 400 where the revision has none', async () => {
    proves('H4b', 'H5b')
    const client = await openSession(open().sessions, '2025-06-18')
    for (const text of [`[${tool(1, 'echo', 'x')}]`, `[${initialized}]`]) {
      const reply = await client.postText(text).answered()
      expect([reply.status, reply.json.id, reply.json.error.code]).toEqual([400, null, -32600])
    }
    expect(client.session.isBusy).toBe(false)
  })

  test('that is refused cancels nothing', async () => {
    const { sessions, gate, aborted } = open()
    const client = await openSession(sessions, '2025-06-18')
    const waiting = client.post(call(1, 'wait', { word: 'a' }))
    const cancel = line({ method: 'notifications/cancelled', params: { requestId: 1 } })
    expect((await client.postText(`[${cancel}]`).answered()).status).toBe(400)
    gate('a').resolve()
    expect([said((await waiting.answered()).json), aborted]).toEqual(['a', []])
  })

  test('may cancel one of its own, and is answered without it', async () => {
    const { sessions, aborted } = open()
    const client = await openSession(sessions, '2025-03-26')
    const cancel = (requestId: number) =>
      line({ method: 'notifications/cancelled', params: { requestId } })
    const some = client.postText(`[${tool(1, 'wait', 'a')},${tool(2, 'echo', 'b')},${cancel(1)}]`)
    await some.answered()
    expect(some.json.map((one: { id: number }) => one.id)).toEqual([2])
    const all = await client.postText(`[${tool(1, 'wait', 'c')},${cancel(1)}]`).answered()
    expect([all.isStream, all.events]).toEqual([true, []])
    expect(aborted).toEqual(['a', 'c'])
  })
})
