import { describe, expect, test } from 'vitest'
import { connect, Server } from '../../src/index.ts'
import type { Channel } from '../../src/jsonrpc/channel.ts'
import { encode } from '../../src/jsonrpc/codec/encode.ts'
import type { Id, Message } from '../../src/jsonrpc/message.ts'
import type { RevisionName } from '../../src/mcp/revisions/revisions.ts'
import { Router } from '../../src/router/index.ts'
import { memoryPair } from '../../src/transport/memory.ts'

const stateless = '2026-07-28'
const cells = (['2025-06-18', '2025-11-25', stateless] as const).flatMap(front =>
  (['2024-11-05', '2025-11-25', stateless] as const).map(behind => [front, behind] as const),
)
const key = 'io.modelcontextprotocol/'

// biome-ignore lint/suspicious/noExplicitAny: assertions say what they expect
type Loose = any

/** A server that records its calls, with tools that wait and report progress. */
function upstreamServer(revision: RevisionName) {
  const server = new Server(
    { name: 'behind', version: '9.9.9' },
    { revisions: [revision], onError: () => {} },
  )
  const calls: Loose[] = []
  const waits = { begun: 0, stopped: 0 }
  server.use(next => (message, exchange) => {
    if (message.method === 'tools/call') calls.push(message.params)
    return next(message, exchange)
  })
  const annotations = { readOnlyHint: true, title: 'Telling' }
  server.tool('tell', { annotations }, (_input, ctx) => {
    ctx.progress(1, 2)
    return { content: [], _meta: { 'example.com/back': [1], [`${key}serverInfo`]: { name: 'x' } } }
  })
  server.tool('wait', {}, async (_input, ctx) => {
    waits.begun++
    await new Promise((_resolve, reject) => {
      ctx.signal.addEventListener('abort', () => {
        waits.stopped++
        reject(ctx.signal.reason)
      })
    })
  })
  return { server, calls, waits }
}

/** One end of a wire whose other end is a router: sends and receives messages verbatim. */
async function rawCaller(router: Router, revision: string) {
  const [near, far] = memoryPair()
  router.attach(far)
  const received: Loose[] = []
  let arrived = (): void => {}
  near.open({
    receive: arrival => {
      received.push(JSON.parse(encode(arrival as Message)))
      arrived()
    },
    closed: () => {},
  })
  const until = async (isIt: (message: Loose) => boolean): Promise<Loose> => {
    for (;;) {
      const found = received.find(isIt)
      if (found !== undefined) return found
      await new Promise<void>(resolve => (arrived = resolve))
    }
  }
  const own = {
    [`${key}protocolVersion`]: revision,
    [`${key}clientCapabilities`]: { extensions: { 'example.com/x': {} } },
    [`${key}clientInfo`]: { name: 'in front', version: '1' },
  }
  const request = async (id: Id, method: string, params: Loose = {}): Promise<Loose> => {
    const _meta = revision === stateless ? { ...own, ...params._meta } : params._meta
    send(near, { type: 'request', id, method, params: { ...params, _meta } })
    return until(message => message.id === id && message.method === undefined)
  }
  const notify = (method: string, params: Loose): void =>
    send(near, { type: 'notification', method, params })
  if (revision !== stateless) {
    await request('opening', 'initialize', {
      protocolVersion: revision,
      capabilities: {},
      clientInfo: { name: 'in front', version: '1' },
    })
    notify('notifications/initialized', {})
  }
  return { received, request, notify }
}

function send(channel: Channel, message: Message): void {
  void channel.send(message)
}

describe.each(cells)('a router between a caller of %s and a server of %s', (front, behind) => {
  test('forwards what belongs to the call, and renews what belongs to the hop', async () => {
    const { server, calls } = upstreamServer(behind)
    await using router = new Router({ servers: { x: { server, prefix: false } } })
    const { request, received } = await rawCaller(router, front)
    const trace = {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: 'vendor=1',
      baggage: 'user=7',
    }
    const reply = await request(7, 'tools/call', {
      name: 'tell',
      arguments: {},
      _meta: { ...trace, 'example.com/own': { deep: [1, null] }, progressToken: 'mine' },
    })
    const { _meta } = calls[0]
    expect(_meta).toMatchObject({ ...trace, 'example.com/own': { deep: [1, null] } })
    expect(_meta.progressToken).not.toBe('mine')
    if (behind === stateless) {
      expect(_meta[`${key}clientInfo`]).toMatchObject({ name: 'trunkline' })
      expect(_meta[`${key}protocolVersion`]).toBe(stateless)
    } else expect(Object.keys(_meta).filter(name => name.startsWith(key))).toEqual([])
    expect(reply.result._meta).toMatchObject({ 'example.com/back': [1] })
    const from = reply.result._meta[`${key}serverInfo`]
    if (front === stateless) expect(from).toMatchObject({ name: 'trunkline' })
    else expect(from).toBeUndefined()
    const steps = received.filter(({ method }) => method === 'notifications/progress')
    expect(steps.map(({ params }) => params)).toEqual([
      { progressToken: 'mine', progress: 1, total: 2 },
    ])
  })

  test('answers under any kind of id, and stops cancelled calls', async () => {
    const { server, waits } = upstreamServer(behind)
    await using router = new Router({ servers: { x: { server, prefix: false } } })
    const { request, notify, received } = await rawCaller(router, front)
    for (const id of [0, '', '0', -1, 'ä']) {
      const { result } = await request(id, 'tools/list')
      expect(result.tools.map(({ name }: Loose) => name)).toEqual(['tell', 'wait'])
      // Annotations are forwarded from the first revision that has them.
      const hints = behind === '2024-11-05' ? undefined : { readOnlyHint: true, title: 'Telling' }
      expect(result.tools[0].annotations).toEqual(hints)
    }
    let stopped = 0
    for (const id of [0, '', '0']) {
      const before = received.length
      void request(id, 'tools/call', { name: 'wait', arguments: {} })
      while (waits.begun === stopped) await turn()
      notify('notifications/cancelled', { requestId: id, reason: 'enough' })
      stopped++
      while (waits.stopped < stopped) await turn()
      const { result } = await request('next', 'tools/call', { name: 'tell', arguments: {} })
      expect(result.isError).not.toBe(true)
      expect(received.slice(before).filter(message => message.id === id)).toEqual([])
      received.splice(0)
    }
  })
})

test('the completion of a URL elicitation is reported only to the caller that was elicited', async () => {
  const server = new Server({ name: 'pages', version: '1' }, { revisions: ['2025-11-25'] })
  server.tool('pay', {}, async (_input, ctx) => {
    await ctx.elicit({ message: 'Pay', url: 'https://pay.example/1', elicitationId: 'p1' })
    return 'asked'
  })
  await using router = new Router({ servers: { x: { server, prefix: false } } })
  await router.ready()
  const received: unknown[] = []
  const accept = () => ({ action: 'accept' }) as const
  const options = { era: 'session', elicit: { form: accept, url: accept } } as const
  await using client = await connect(router, {
    ...options,
    onNotification: (method, params) => received.push([method, params]),
  })
  await using other = await connect(router, {
    ...options,
    onNotification: (method, params) => received.push(['to another', method, params]),
  })
  expect((await client.call('pay')).text).toBe('asked')
  server.completeElicitation('p1')
  await client.ping()
  await other.ping()
  while (received.length === 0) await turn()
  expect(received).toEqual([['notifications/elicitation/complete', { elicitationId: 'p1' }]])
})

test.each(['2025-11-25', stateless] as const)(
  'a task of a server of %s continues for a caller that has reconnected',
  async behind => {
    const server = new Server({ name: 'tasks', version: '1' }, { revisions: [behind] })
    let finish: () => void = () => {}
    const finished = new Promise<void>(resolve => (finish = resolve))
    server.tool('slow', { task: 'optional' }, async () => {
      await finished
      return 'at last'
    })
    await using router = new Router({ servers: { x: { server, prefix: false } } })
    const first = await connect(router, { era: 'stateless' })
    const { id = '' } = await first.start('slow')
    await first.close()
    await using second = await connect(router, { era: 'stateless' })
    const task = await second.task(id)
    finish()
    expect((await task.result()).text).toBe('at last')
  },
)

test.each(['2025-11-25', stateless] as const)(
  'a server of %s causes notifications only for the lists that have changed',
  async behind => {
    const server = new Server({ name: 'lists', version: '1' }, { revisions: [behind] })
    server.tool('first', {}, () => '')
    server.prompt('first', {}, () => '')
    const prompt = server.prompt('second', {}, () => '')
    await using router = new Router({ servers: { x: { server, prefix: false } } })
    await router.ready()
    await using client = await connect(router)
    const changes = client.changes({ tools: true, prompts: true, resources: true })
    await changes.ready
    server.tool('second', {}, () => '')
    expect(await changes.next()).toMatchObject({ value: { type: 'tools' } })
    prompt.remove()
    expect(await changes.next()).toMatchObject({ value: { type: 'prompts' } })
    await changes.return()
  },
)

test('responses that a caller sends before a stateless server requests input are forwarded to it', async () => {
  const server = new Server({ name: 'asks', version: '1' }, { revisions: [stateless] })
  server.tool('greet', {}, async (_input, ctx) => {
    const schema = { type: 'object', properties: { name: { type: 'string' } } } as const
    const { name } = await ctx.elicit({ key: 'who', message: 'Who?', schema })
    return `hello ${name}`
  })
  await using router = new Router({ servers: { x: { server, prefix: false } } })
  const { request } = await rawCaller(router, stateless)
  const answer = { action: 'accept', content: { name: 'Ada' } }
  const { result } = await request(1, 'tools/call', {
    name: 'greet',
    arguments: {},
    inputResponses: { who: answer, another: answer },
    _meta: { [`${key}clientCapabilities`]: { elicitation: { form: {} } } },
  })
  expect(result.content).toEqual([{ type: 'text', text: 'hello Ada' }])
})

test('a response that comes too late, or twice, is refused', async () => {
  const server = new Server({ name: 'asks', version: '1' }, { revisions: ['2025-11-25'] })
  let stopped: () => void = () => {}
  const isStopped = new Promise<void>(resolve => (stopped = resolve))
  server.tool('roots', {}, async (_input, ctx) => {
    ctx.signal.addEventListener('abort', stopped)
    return `${(await ctx.roots()).length}`
  })
  const options = { x: { server, prefix: false } } as const
  await using router = new Router({ servers: options, parkedMs: 1 })
  const { request } = await rawCaller(router, stateless)
  const params = {
    name: 'roots',
    arguments: {},
    _meta: { [`${key}clientCapabilities`]: { roots: {} } },
  }
  const { result } = await request(1, 'tools/call', params)
  expect(result.resultType).toBe('input_required')
  // The server is notified that the caller no longer waits.
  await isStopped
  const { requestState } = result
  const inputResponses = { q1: { roots: [] } }
  const late = await request(2, 'tools/call', { ...params, requestState, inputResponses })
  expect(late.error).toMatchObject({ code: -32602, message: 'Invalid requestState' })
})

test('a stateless caller gets an error that names the capability it must declare for a server request', async () => {
  const server = new Server({ name: 'asks', version: '1' }, { revisions: ['2025-11-25'] })
  server.tool('roots', {}, async (_input, ctx) => `${(await ctx.roots()).length}`)
  await using router = new Router({ servers: { x: { server, prefix: false } } })
  const { request } = await rawCaller(router, stateless)
  const { error } = await request(1, 'tools/call', { name: 'roots', arguments: {} })
  expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: { roots: {} } } })
})

/** Waits for one turn of the event loop. */
function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
