import { describe, expect, test } from 'vitest'
import { Server } from '../../src/server/server.ts'
import { proves } from '../requirements.ts'
import { calling, inSession, speaking, stateless } from './requests.ts'
import { type Served, serve } from './served.ts'

describe('the id of a request', () => {
  test.each([0, '', '0', -1, 'a b'])(
    'may be %j, and cancels that request and no other',
    async id => {
      const on = await serve()
      let begun = 0
      on.server.use(next => (message, exchange) => {
        if (message.method === 'tools/call') begun++
        return next(message, exchange)
      })
      const session = await on.session()
      const call = (word: string) => ({ name: 'wait', arguments: { word } })
      const given = await on.open(inSession(session, 'tools/call', call('given'), id))
      const other = await on.open(inSession(session, 'tools/call', call('other'), 'other'))
      await until(on, () => begun === 2)
      const cancelled = inSession(session, 'notifications/cancelled', { requestId: id })
      expect((await on.ask(cancelled)).status).toBe(202)
      await until(on, () => on.aborted.length > 0)
      expect(on.aborted).toEqual(['given'])
      on.gate('other').resolve()
      expect((await other.reply()).json.result.content[0].text).toBe('other')
      given.cut()
    },
  )

  test('is returned exactly, even beyond the safe integers of JavaScript', async () => {
    const on = await serve()
    const { headers, body = '' } = speaking('tools/list', {}, { id: 7 })
    const long = body.toString().replace('"id":7', '"id":9007199254740993')
    expect((await on.ask({ headers, body: long })).text).toContain('"id":9007199254740993')
  })
})

describe('information that a client sends about itself', () => {
  test('has no effect in unknown members of _meta', async () => {
    const seen: unknown[] = []
    const server = new Server({ name: 'x', version: '1' })
    server.tool('who', {}, (_, ctx) => {
      seen.push(ctx.caller.principal)
      return `${ctx.caller.principal?.id}`
    })
    const on = await serve({}, server)
    const meta = { principal: { id: 'admin' }, tenant: 'a', role: 'admin', 'example.com/user': 'b' }
    const { json } = await on.ask(calling('who', {}, { meta }))
    expect(json.result.content[0].text).toBe('undefined')
    expect(seen).toEqual([undefined])
  })

  test('in a header does not override its body', async () => {
    proves('N15')
    const on = await serve()
    const rows = [
      { 'mcp-protocol-version': '2025-11-25' },
      { 'mcp-method': 'tools/list' },
      { 'mcp-name': 'echo' },
    ]
    for (const headers of rows) {
      const reply = await on.ask(calling('wait', { word: 'x' }, { headers }))
      expect([reply.status, reply.json.error.code]).toEqual([400, -32020])
    }
  })

  test('about a session does not affect a stateless request', async () => {
    const on = await serve()
    for (const session of ['made-up', await on.session()]) {
      const headers = { 'mcp-session-id': session, 'last-event-id': '1' }
      expect((await on.ask(speaking('tools/list', {}, { headers }))).status).toBe(200)
    }
  })
})

describe('a session', () => {
  test('has one standalone stream: a second one is rejected, and the first continues', async () => {
    const on = await serve()
    const headers = { 'mcp-session-id': await on.session() }
    const first = await on.open({ method: 'GET', headers })
    await first.begin()
    expect((await on.ask({ method: 'GET', headers })).status).toBe(409)
    await on.ask(calling('change'))
    let data = await first.event()
    while (data === '') data = await first.event()
    expect(JSON.parse(data ?? '').method).toBe('notifications/tools/list_changed')
    first.cut()
  })

  test.each(['never', '', '__proto__', 'x'.repeat(50)])(
    'that was never opened is not found: %s',
    async id => {
      const on = await serve()
      const reply = await on.ask(inSession(id, 'tools/list', {}, 1))
      expect([400, 404]).toContain(reply.status)
    },
  )

  test('that was deleted is not found', async () => {
    proves('H12f')
    const on = await serve()
    const headers = { 'mcp-session-id': await on.session() }
    expect((await on.ask({ method: 'DELETE', headers })).status).toBe(204)
    for (const method of ['GET', 'DELETE']) {
      expect((await on.ask({ method, headers })).status).toBe(404)
    }
    expect((await on.ask(inSession(headers['mcp-session-id'], 'ping', {}, 1))).status).toBe(404)
  })

  test.each(['1999-01-01', stateless, 'x'])('does not change its revision to %s', async version => {
    proves('H13d')
    const on = await serve()
    const asking = inSession(await on.session(), 'ping', {}, 1)
    const headers = { ...asking.headers, 'mcp-protocol-version': version }
    expect((await on.ask({ ...asking, headers })).status).toBe(400)
  })

  test.each(['forged', '1-1', '0_0', '-1', 'x'.repeat(50)])(
    'rejects a Last-Event-ID that was never sent: %s',
    async last => {
      const on = await serve()
      const headers = { 'mcp-session-id': await on.session(), 'last-event-id': last }
      expect((await on.ask({ method: 'GET', headers })).status).toBe(400)
    },
  )

  test('does not replay the events of another session', async () => {
    const on = await serve()
    const [mine, theirs] = [await on.session(), await on.session()]
    const stream = await on.open({ method: 'GET', headers: { 'mcp-session-id': theirs } })
    await stream.begin()
    const id = /^id: ?(.*)$/m.exec((await stream.block()) ?? '')?.[1]
    const headers = { 'mcp-session-id': mine, 'last-event-id': id }
    expect((await on.ask({ method: 'GET', headers })).status).toBe(400)
    stream.cut()
  })
})

test.each(['/', '//', '/a', '?d=', '%2f', '..', ':'])(
  'a long URI of %s is matched in one pass',
  async piece => {
    const server = new Server({ name: 'x', version: '1' })
    server.resourceTemplate('any', 'x:{a}/{b}/{+c}{?d,e}', {}, () => 'x')
    const on = await serve({}, server)
    const session = await on.session()
    const read = inSession(session, 'resources/read', { uri: `x:${piece.repeat(100_000)}!` }, 1)
    // A matcher that backtracks over every split would not finish before the test times out.
    expect((await on.ask(read)).status).toBe(200)
  },
)

/** Sends other requests until the condition holds. */
async function until(on: Served, isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await on.ask(speaking('server/discover'))
}
