import { Agent, request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { Ops } from '../../src/observe/health/health.ts'
import { deferred } from '../../src/util/promises.ts'
import { proves } from '../requirements.ts'
import { type Asking, type Reply, type Wire, written } from './raw.ts'
import { calling, inSession, speaking } from './requests.ts'
import { type Served, serve } from './served.ts'

const call = (word: string) => ({ name: 'wait', arguments: { word } })
const filter = { notifications: { toolsListChanged: true } }

describe('a listener that closes', () => {
  test('waits for everything in flight, over every transport', async () => {
    const on = await serve({ http: { sessionless: true } })
    const session = await on.session()
    const asked: Promise<string | undefined>[] = []
    for (let i = 0; i < 40; i++) {
      const word = `s${i}`
      asked.push(textOf(on, calling('wait', { word })))
      asked.push(textOf(on, inSession(session, 'tools/call', call(word), i)))
      asked.push(textOf(on, inSession(undefined, 'tools/call', call(word), i)))
    }
    const pair = await sse(on)
    await on.ask({
      path: pair.path,
      body: JSON.stringify({ jsonrpc: '2.0', id: 9, method: 'tools/call', params: call('s0') }),
    })
    const socket = await webSocket(on, call('s1'))
    await ticks(on)
    const closing = on.listener.close()
    for (let i = 0; i < 40; i++) on.gate(`s${i}`).resolve()
    const words = await Promise.all(asked)
    expect(words).toEqual(Array.from({ length: 120 }, (_, i) => `s${Math.floor(i / 3)}`))
    expect(JSON.parse((await pair.wire.event()) ?? '')).toMatchObject({ id: 9, result: {} })
    expect(await socket.answer).toMatchObject({ id: 1, result: {} })
    await closing
  })

  test.each(['fast', 'node'] as const)(
    'serves late requests on open connections, parser %s',
    async parser => {
      const on = await serve({ http: { parser } })
      const early = await on.open(calling('wait', { word: 'x' }))
      // Both connections are already open, since no new one is accepted; the second has sent half of its request.
      const bytes = written(on.port, speaking('tools/list'))
      const late = await on.open()
      late.send(bytes.subarray(0, 30))
      await ticks(on)
      const closing = on.listener.close()
      late.send(bytes.subarray(30))
      const served = await late.reply()
      expect([served.status, served.headers.get('connection')]).toEqual([200, 'close'])
      await late.ended
      on.gate('x').resolve()
      const answered = await early.reply()
      expect(answered.json.result.content[0].text).toBe('x')
      expect(answered.headers.get('connection')).toBe('close')
      await closing
    },
  )

  test('announces it for `lameDuckMs`, and serves all clients meanwhile', async () => {
    const on = await serve({ ops: new Ops(), lameDuckMs: 200 })
    const kept = await on.open({ method: 'GET', path: '/readyz' })
    expect((await kept.reply()).status).toBe(200)
    const closing = on.listener.close()
    kept.send(written(on.port, { method: 'GET', path: '/readyz' }))
    expect((await kept.reply()).status).toBe(503)
    const fresh = await on.ask(calling('echo', { word: 'x' }))
    expect(fresh.json.result.content[0].text).toBe('x')
    await closing
    await expect(on.open()).rejects.toThrow('ECONNREFUSED')
  })

  test('fails no request of a proxy that keeps a pool of connections', async () => {
    const on = await serve({ ops: new Ops(), lameDuckMs: 50 })
    const agent = new Agent({ keepAlive: true, maxSockets: 8 })
    const outcomes: Promise<unknown>[] = []
    let closed = false
    const worker = async () => {
      while (!closed) {
        const outcome = through(agent, on.port)
        outcomes.push(outcome)
        await outcome.catch(() => {})
      }
    }
    const workers = Array.from({ length: 8 }, worker)
    await Promise.all(workers.map(() => through(agent, on.port)))
    await on.listener.close()
    closed = true
    await Promise.all(workers)
    agent.destroy()
    const results = new Set(await Promise.all(outcomes.map(one => one.catch(error => error.code))))
    // A proxy sends what it could not connect for to another server.
    results.delete('ECONNREFUSED')
    expect([...results]).toEqual([200])
  })

  test('answers a request whose body was still arriving', async () => {
    const on = await serve()
    const bytes = written(on.port, calling('echo', { word: 'x' }))
    const wire = await on.open()
    wire.send(bytes.subarray(0, -20))
    await ticks(on)
    const closing = on.listener.close()
    wire.send(bytes.subarray(-20))
    expect((await wire.reply()).json.result.content[0].text).toBe('x')
    await closing
  })

  test('ends stateless subscriptions with their result', async () => {
    const on = await serve()
    const wires: Wire[] = []
    for (let id = 0; id < 20; id++) {
      const wire = await on.open(speaking('subscriptions/listen', filter, { id }))
      await wire.begin()
      expect(JSON.parse((await wire.event()) ?? '').method).toBe(
        'notifications/subscriptions/acknowledged',
      )
      wires.push(wire)
    }
    const closing = on.listener.close()
    for (const [id, wire] of wires.entries()) {
      const ended = JSON.parse((await wire.event()) ?? '')
      expect(ended).toMatchObject({
        id,
        result: { resultType: 'complete', _meta: { 'io.modelcontextprotocol/subscriptionId': id } },
      })
      expect(await wire.event()).toBeUndefined()
    }
    await closing
  })

  test('ignores subscriptions that have already ended', async () => {
    const on = await serve()
    for (let id = 0; id < 20; id++) {
      const wire = await on.open(speaking('subscriptions/listen', filter, { id }))
      await wire.begin()
      await wire.event()
      wire.cut()
      await wire.ended
    }
    await on.listener.close()
    expect(on.failures).toEqual([])
  })

  test('leaves the server and its other listeners unchanged', async () => {
    const on = await serve()
    const other = await serve({}, on.server)
    const wire = await other.open(speaking('subscriptions/listen', filter))
    await wire.begin()
    await wire.event()
    await on.listener.close()
    await other.ask(calling('change'))
    expect(JSON.parse((await wire.event()) ?? '').method).toBe('notifications/tools/list_changed')
    wire.cut()
  })

  test('ends the streams of sessions, old and new', async () => {
    const on = await serve()
    const stream = await on.open({
      method: 'GET',
      headers: { 'mcp-session-id': await on.session() },
    })
    await stream.begin()
    const pair = await sse(on)
    const closing = on.listener.close()
    for (const wire of [stream, pair.wire]) while ((await wire.event()) !== undefined);
    await closing
  })

  test('waits no longer than `drainMs`', async () => {
    const on = await serve({ drainMs: 20 })
    const wire = await on.open(calling('wait', { word: 'never' }))
    const silent = await on.open()
    await ticks(on)
    const closing = on.listener.close()
    const { status, json } = await wire.reply()
    expect([status, json.id, json.error.message]).toEqual([503, 1, 'The server is closing'])
    await closing
    await Promise.all([wire.ended, silent.ended])
    expect(on.aborted).toEqual(['never'])
  })

  test('may be closed twice', async () => {
    const on = await serve()
    await Promise.all([on.listener.close(), on.listener.close()])
  })
})

describe('load over the limit', () => {
  test('gets 503 with Retry-After', async () => {
    const on = await serve({ http: { maxInFlight: 2 } })
    const first = await Promise.all(['a', 'b'].map(word => on.open(calling('wait', { word }))))
    await ticks(on, 503)
    const refused = await on.ask(calling('echo', { word: 'c' }))
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    for (const word of ['a', 'b']) on.gate(word).resolve()
    for (const wire of first) expect((await wire.reply()).status).toBe(200)
    expect((await on.ask(calling('echo', { word: 'd' }))).status).toBe(200)
  })

  test('of connections closes the excess ones at once', async () => {
    const on = await serve({ maxConnections: 2 })
    const kept = [await on.open(), await on.open()]
    const third = await on.open()
    await third.ended
    for (const wire of kept) wire.cut()
    await Promise.all(kept.map(wire => wire.ended))
  })
})

describe('a stream', () => {
  test('that is idle is kept open by comments', async () => {
    proves('N6e')
    const on = await serve({ http: { keepAliveMs: 20 } })
    const session = await on.session()
    const streams: Asking[] = [
      speaking('subscriptions/listen', filter),
      { method: 'GET', headers: { 'mcp-session-id': session } },
      { method: 'GET', path: '/sse' },
    ]
    for (const asking of streams) {
      const wire = await on.open(asking)
      await wire.begin()
      let block = await wire.block()
      while (block !== undefined && !block.startsWith(':')) block = await wire.block()
      expect(block?.trim()).toBe(':')
      wire.cut()
    }
  })

  const meta = { 'io.modelcontextprotocol/logLevel': 'debug' }
  const words = 'x'.repeat(65_536)

  /** Calls a tool that ignores backpressure. Returns how much it sent. */
  function flood(on: Served, max: number): Promise<number> {
    const aborted = deferred<number>()
    on.server.tool('flood', {}, async (_, ctx) => {
      let sent = 0
      ctx.signal.addEventListener('abort', () => aborted.resolve(sent * words.length))
      while (!ctx.signal.aborted && sent < max) {
        ctx.log('error', words)
        sent++
        if (sent % 10 === 0) await new Promise<void>(resolve => setImmediate(resolve))
      }
      await aborted.promise
      return 'over'
    })
    return aborted.promise
  }

  test('whose client has stopped reading buffers no more than the limit, then ends', async () => {
    const on = await serve()
    const sent = flood(on, 900)
    const wire = await on.open(calling('flood', {}, { meta }))
    await wire.begin()
    wire.socket.pause()
    // The server buffers eight megabytes, and the operating system some more.
    expect(await sent).toBeLessThan(24 * 1024 * 1024)
    wire.cut()
    await on.isAlive()
  })

  test('whose client has stopped reading ends after a while, even if less is buffered', async () => {
    const on = await serve({ maxOutboundBytes: 1e9, highWaterBytes: 1000, stallMs: 50 })
    const sent = flood(on, 300)
    const wire = await on.open(calling('flood', {}, { meta }))
    await wire.begin()
    wire.socket.pause()
    expect(await sent).toBeGreaterThan(0)
    wire.cut()
    await on.isAlive()
  })
})

async function textOf(on: Served, asking: Asking): Promise<string | undefined> {
  const reply: Reply = await on.ask(asking)
  return reply.json.result?.content[0].text
}

/** Waits until everything sent has arrived, because later requests get later responses. */
async function ticks(on: Served, status = 200): Promise<void> {
  for (let i = 0; i < 5; i++)
    expect((await on.ask(speaking('server/discover'))).status).toBe(status)
}

async function sse(on: Served): Promise<{ readonly wire: Wire; readonly path: string }> {
  const wire = await on.open({ method: 'GET', path: '/sse' })
  await wire.begin()
  const path = (await wire.event()) ?? ''
  const clientInfo = { name: 'x', version: '1' }
  const params = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo }
  await on.ask({
    path,
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  })
  await wire.event()
  await on.ask({
    path,
    body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
  })
  return { wire, path }
}

async function webSocket(
  on: Served,
  params: object,
): Promise<{ readonly answer: Promise<object> }> {
  const socket = new WebSocket(on.listener.address.replace('http', 'ws'))
  await new Promise(resolve => socket.once('open', resolve))
  const { body = '' } = speaking('tools/call', params)
  socket.send(body.toString())
  const answer = new Promise<object>(resolve => {
    socket.on('message', data => resolve(JSON.parse(String(data))))
  })
  return { answer }
}

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** Sends a call over a connection of the pool, and resolves to the status of the response. */
function through(agent: Agent, port: number): Promise<number | undefined> {
  const { headers, body } = calling('echo', { word: 'x' })
  return new Promise((resolve, reject) => {
    const how = { agent, port, host: '127.0.0.1', path: '/mcp', method: 'POST' }
    const sent = request(
      { ...how, headers: { ...json, ...headers, host: `127.0.0.1:${port}` } },
      response => {
        response.on('error', reject).on('end', () => resolve(response.statusCode))
        response.resume()
      },
    )
    sent.on('error', reject).end(body)
  })
}
