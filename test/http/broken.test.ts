import { describe, expect, test } from 'vitest'
import { proves } from '../requirements.ts'
import { type Asking, written } from './raw.ts'
import { calling, inSession, opening, speaking } from './requests.ts'
import { type Served, serve } from './served.ts'

const upgrade: Asking = {
  method: 'GET',
  headers: {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  },
}

const work = { word: 'x' }
const meta = { progressToken: 'p' }

describe('a client that disconnects in the middle of its request', () => {
  const rows: readonly (readonly [string, (on: Served) => Asking | Promise<Asking>])[] = [
    ['that is stateless', () => calling('echo', work)],
    ['that opens a session', () => opening()],
    ['in a session', async on => inSession(await on.session(), 'tools/list', {}, 1)],
    [
      'for the stream of a session',
      async on => ({ method: 'GET', headers: { 'mcp-session-id': await on.session() } }),
    ],
    ['for the HTTP+SSE stream', () => ({ method: 'GET', path: '/sse' })],
    [
      'over HTTP+SSE',
      () => ({ path: '/messages?sessionId=x', body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' }),
    ],
    ['for a WebSocket', () => upgrade],
  ]

  test.each(rows)('%s, after any byte, does not affect the server', async (_, asking) => {
    const on = await serve()
    const bytes = written(on.port, await asking(on))
    for (let from = 0; from <= bytes.length; from += 50) {
      const cuts = Array.from({ length: Math.min(50, bytes.length + 1 - from) }, (_, i) => from + i)
      await Promise.all(
        cuts.map(async at => {
          const wire = await on.open()
          await new Promise<void>(sent => wire.socket.write(bytes.subarray(0, at), () => sent()))
          // Half of them reset the connection, the others just close it.
          if (at % 2 === 0) wire.socket.resetAndDestroy()
          else wire.cut()
          await wire.ended
        }),
      )
    }
    await on.isAlive()
    expect(on.failures.filter(failure => !/WebSocket/.test(String(failure)))).toEqual([])
  })
})

describe('a client that disconnects in the middle of a response', () => {
  test('of a stateless request, after any event, does not affect the server', async () => {
    const on = await serve()
    for (let events = 0; events < 3; events++) {
      const word = `w${events}`
      const wire = await on.open(calling('work', { word }, { meta }))
      await wire.begin()
      await wire.event()
      on.gate(word).resolve()
      for (let i = 0; i < events; i++) await wire.event()
      wire.cut()
    }
    await on.isAlive()
  })

  test('stops the work of a stateless request', async () => {
    proves('N7', 'N7b')
    const on = await serve()
    const wire = await on.open(calling('wait', work))
    await arrived(on, () => wire.cut())
    await until(on, () => on.aborted.includes('x'))
    on.gate('x').resolve()
    await on.isAlive()
  })

  test('does not cancel a request of a session', async () => {
    proves('H7e')
    const on = await serve()
    const session = await on.session()
    const wire = await on.open(
      inSession(session, 'tools/call', { name: 'wait', arguments: work }, 1),
    )
    await arrived(on, () => wire.cut())
    await wire.ended
    await on.isAlive()
    expect(on.aborted).toEqual([])
    on.gate('x').resolve()
    await on.isAlive()
  })

  test('of a session gets the rest when it reconnects, after any event', async () => {
    const on = await serve()
    const session = await on.session()
    const given = { name: 'work', arguments: work, _meta: meta }
    const first = await on.open(inSession(session, 'tools/call', given, 1))
    await first.begin()
    const ids: string[] = []
    // The empty event at the beginning, and the first progress notification.
    for (let i = 0; i < 2; i++) ids.push(idOf(await first.block()))
    first.cut()
    on.gate('x').resolve()
    for (const last of ids) {
      const headers = { 'mcp-session-id': session, 'last-event-id': last }
      const again = await on.ask({ method: 'GET', headers })
      const received = again.events.filter(data => data !== '').map(data => JSON.parse(data))
      expect(received.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: 'x' }] } })
    }
    await on.isAlive()
  })

  test('that is long does not affect the server', async () => {
    const on = await serve()
    on.server.tool('long', {}, () => 'x'.repeat(5_000_000))
    for (const bytes of [1, 1000, 100_000, 1_000_000]) {
      const wire = await on.open(calling('long'))
      let size = 0
      for await (const chunk of wire.socket) {
        size += chunk.length
        if (size >= bytes) break
      }
      wire.cut()
    }
    await on.isAlive()
    expect(on.failures).toEqual([])
  })

  test('on a WebSocket does not affect the server', async () => {
    const on = await serve()
    for (const cut of ['cut', 'reset'] as const) {
      const wire = await on.open(upgrade)
      const { status } = await wire.begin()
      expect(status).toBe(101)
      if (cut === 'cut') wire.cut()
      else wire.socket.resetAndDestroy()
      await wire.ended
    }
    await on.isAlive()
  })
})

describe('a client that half-closes its connection', () => {
  test('gets its response', async () => {
    const on = await serve()
    const wire = await on.open(calling('wait', work))
    wire.socket.end()
    await arrived(on, () => on.gate('x').resolve())
    const reply = await wire.reply().catch(() => undefined)
    // Node treats a half-closed connection as closed; the server must stay available to other clients.
    expect([undefined, 200]).toContain(reply?.status)
    await on.isAlive()
  })
})

test('a request that cannot be parsed does not corrupt the response that is being sent', async () => {
  const on = await serve()
  const wire = await on.open(calling('work', work, { meta }))
  await wire.begin()
  await wire.event()
  wire.send('GARBAGE\r\n\r\n')
  on.gate('x').resolve()
  expect(await wire.event()).toContain('"progress":2')
  expect(await wire.event()).toContain('"result"')
  expect(await wire.event()).toBeUndefined()
  await wire.ended
  await on.isAlive()
})

/** Runs `then` once an earlier call has started, which the response to a later request shows. */
async function arrived(on: Served, then: () => void): Promise<void> {
  await on.ask(speaking('server/discover'))
  then()
}

async function until(on: Served, isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await on.ask(speaking('server/discover'))
}

function idOf(block: string | undefined): string {
  return /^id: ?(.*)$/m.exec(block ?? '')?.[1] ?? ''
}
