import { once } from 'node:events'
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from 'node:net'
import {
  context,
  propagation,
  SpanKind,
  SpanStatusCode,
  type TextMapPropagator,
  trace,
} from '@opentelemetry/api'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { connect } from '../../src/connect.ts'
import { listen } from '../../src/listen.ts'
import type { RevisionName } from '../../src/mcp/revisions/revisions.ts'
import { observe } from '../../src/observe/observe.ts'
import type { UpstreamOptions } from '../../src/router/options.ts'
import { Router } from '../../src/router/router.ts'
import { Server } from '../../src/server/server.ts'
import {
  registerTelemetry,
  type Telemetry,
  type ToldSpan,
  unregisterTelemetry,
} from '../support/telemetry.js'
import { turn } from '../support/wire.ts'

let telemetry: Telemetry
beforeEach(() => {
  unregisterTelemetry()
  telemetry = registerTelemetry()
})
afterEach(() => {
  expect(telemetry.complaints).toEqual([])
  unregisterTelemetry()
})

const callersTrace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

/** A client, a router and a server, each over a socket, and the `_meta` of the calls that reach the server. */
async function chain(options: {
  readonly isTraced: boolean
  readonly caller?: RevisionName
  readonly server?: RevisionName
  readonly behind?: UpstreamOptions
}) {
  const server = new Server({ name: 'calc', version: '1' }, { revisions: one(options.server) })
  const metas: Record<string, unknown>[] = []
  server.tool('add', {}, (_, { meta }) => {
    metas.push(meta)
    return '3'
  })
  server.tool('fail', {}, () => {
    throw new Error('no')
  })
  const input = { type: 'object', properties: { turns: { type: 'number' } } } as const
  server.tool('wait', { input }, async ({ turns = 0 }) => {
    for (let left = turns; left > 0; left--) await turn()
    return trace.getActiveSpan()?.spanContext().spanId ?? 'none'
  })
  if (options.isTraced) await traced(server)
  const behind = await listen(server, 'tcp://127.0.0.1:0')
  const router = new Router({ servers: { calc: { url: behind.address, ...options.behind } } })
  if (options.isTraced) await traced(router)
  const front = await listen(router, 'tcp://127.0.0.1:0')
  const client = await connect(front.address, { revisions: one(options.caller) })
  await router.ready()
  onTestFinished(async () => {
    await client.close()
    await front.close()
    await router.close()
    await behind.close()
  })
  telemetry.forget()
  return { client, metas }
}

function one(revision: RevisionName | undefined): readonly RevisionName[] | undefined {
  return revision === undefined ? undefined : [revision]
}

async function traced(endpoint: Server | Router): Promise<void> {
  const observer = observe({ endpoint, metrics: false, traces: true })
  onTestFinished(() => observer.close())
  await observer.ready
}

/** Runs calls inside a span, as an application does. */
async function inSpan<T>(name: string, run: () => Promise<T>): Promise<T> {
  const span = trace.getTracer('application').startSpan(name)
  try {
    return await context.with(trace.setSpan(context.active(), span), run)
  } finally {
    span.end()
  }
}

const eras = ['2025-11-25', '2026-07-28'] as const

describe.each(eras)('a caller of %s', caller => {
  it.each(eras)('shares a trace with the router and a server of %s', async server => {
    const { client, metas } = await chain({ isTraced: true, caller, server })
    await inSpan('application', () => client.call('calc__add'))
    const spans = telemetry.spans()
    const [application, routed, served, ...more] = spans
    expect(more).toEqual([])
    expect([application?.name, routed?.name, served?.name]).toEqual([
      'application',
      'tools/call calc__add',
      'tools/call add',
    ])
    expect([routed?.parent, served?.parent]).toEqual([application?.spanId, routed?.spanId])
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
    expect(metas[0]?.traceparent).toBe(`00-${routed?.traceId}-${routed?.spanId}-01`)
    expect([routed?.kind, served?.kind]).toEqual([SpanKind.SERVER, SpanKind.SERVER])
    expect([routed?.attributes, served?.attributes]).toMatchObject([
      { 'mcp.protocol.version': caller },
      { 'mcp.protocol.version': server },
    ])
  })

  it.each(eras)(
    'has each of its calls in its own trace, however they interleave, before a server of %s',
    async server => {
      const { client } = await chain({
        isTraced: true,
        caller,
        server,
        // Most calls are queued, and continue inside the callback that ends another call.
        behind: { limits: { concurrent: 3 } },
      })
      const numbers = Array.from({ length: 50 }, (_, number) => number)
      const said = await Promise.all(
        numbers.map(number =>
          inSpan(`call ${number}`, async () => {
            for (let left = (number * 7) % 5; left > 0; left--) await turn()
            return (await client.call('calc__wait', { turns: (number * 3) % 4 })).text
          }),
        ),
      )
      const spans = telemetry.spans()
      const childOf = (parent: ToldSpan | undefined) => {
        const children = spans.filter(span => span.parent === parent?.spanId)
        return children.length === 1 ? children[0] : undefined
      }
      for (const number of numbers) {
        const application = spans.find(({ name }) => name === `call ${number}`)
        const routed = childOf(application)
        const served = childOf(routed)
        expect([routed?.name, served?.name]).toEqual(['tools/call calc__wait', 'tools/call wait'])
        expect([routed?.traceId, served?.traceId]).toEqual([
          application?.traceId,
          application?.traceId,
        ])
        // Code inside the tool runs in the span of its own call.
        expect(said[number]).toBe(served?.spanId)
      }
      expect(spans).toHaveLength(150)
      expect(spans.flatMap(({ links }) => links)).toEqual([])
    },
  )

  it('sees in its trace which hop failed', async () => {
    const { client } = await chain({ isTraced: true, caller })
    const failing = inSpan('first', () => client.call('calc__nothing'))
    await expect(failing).rejects.toThrow('Tool not found')
    await inSpan('second', () => client.call('calc__fail'))
    const code = SpanStatusCode.ERROR
    const notFound = { 'error.type': '-32602', 'trunkline.error.kind': 'tool_not_found' }
    const failed = { status: { code }, attributes: { 'error.type': 'tool_error' } }
    expect(telemetry.spans()).toMatchObject([
      { name: 'first' },
      {
        name: 'tools/call calc__nothing',
        status: { code, message: 'Tool not found: calc__nothing' },
        attributes: notFound,
      },
      { name: 'second' },
      { name: 'tools/call calc__fail', ...failed },
      { name: 'tools/call fail', ...failed },
    ])
  })
})

it('a client, a router and a server in one process share a trace, without links', async () => {
  const server = new Server({ name: 'calc', version: '1' })
  server.tool('add', {}, () => '3')
  await traced(server)
  const router = new Router({ servers: { calc: server } })
  onTestFinished(() => router.close())
  await traced(router)
  const client = await connect(router)
  onTestFinished(() => client.close())
  await router.ready()
  telemetry.forget()
  await inSpan('application', () => client.call('calc__add'))
  const [application, routed, served] = telemetry.spans()
  expect([routed?.parent, served?.parent]).toEqual([application?.spanId, routed?.spanId])
  expect(telemetry.spans().flatMap(({ links }) => links)).toEqual([])
})

describe('the trace context of a call', () => {
  const named = { traceparent: callersTrace, tracestate: 'a=1', baggage: 'user=x' }
  const call = { name: 'calc__add', arguments: {}, _meta: named }

  it('is forwarded unchanged where the router is not traced', async () => {
    const { client, metas } = await chain({ isTraced: false })
    await inSpan('application', () => client.request('tools/call', call))
    expect(metas[0]).toMatchObject(named)
    expect(telemetry.spans().map(({ name }) => name)).toEqual(['application'])
  })

  it('wins over the span of the application, and the router is between it and the server', async () => {
    const { client, metas } = await chain({ isTraced: true })
    await inSpan('application', () => client.request('tools/call', call))
    const [, routed, served] = telemetry.spans()
    expect([routed?.parent, served?.parent]).toEqual(['b7ad6b7169203331', routed?.spanId])
    expect([routed?.traceState, served?.traceState]).toEqual(['a=1', 'a=1'])
    expect(metas[0]).toMatchObject({ tracestate: 'a=1', baggage: 'user=x' })
  })

  it('keeps its baggage, but not its state, where the router propagates neither', async () => {
    unregisterTelemetry()
    const parents: TextMapPropagator = {
      fields: () => ['traceparent'],
      inject: (from, carrier, setter) => {
        const { traceId, spanId } = trace.getSpanContext(from) ?? {}
        setter.set(carrier, 'traceparent', `00-${traceId}-${spanId}-01`)
      },
      extract: into => into,
    }
    telemetry = registerTelemetry({ propagator: parents })
    const { client, metas } = await chain({ isTraced: true })
    await client.request('tools/call', call)
    expect(metas[0]).toMatchObject({ baggage: 'user=x' })
    expect(metas[0]?.traceparent).not.toBe(callersTrace)
    expect(metas[0]).not.toHaveProperty('tracestate')
  })

  it('is recorded nowhere when the caller has not sampled it', async () => {
    const { client, metas } = await chain({ isTraced: true })
    const traceparent = callersTrace.replace(/01$/, '00')
    await client.request('tools/call', { ...call, _meta: { ...named, traceparent } })
    expect(telemetry.spans()).toEqual([])
    expect(metas[0]).toMatchObject({ tracestate: 'a=1', baggage: 'user=x' })
    expect(metas[0]?.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/)
  })

  it('is forwarded unchanged where the router cannot inject its own', async () => {
    unregisterTelemetry()
    telemetry = registerTelemetry({ propagator: null })
    const { client, metas } = await chain({ isTraced: true })
    await client.request('tools/call', call)
    expect(metas[0]).toMatchObject(named)
  })
})

it('calls outside of any span, and after tracing has ended, carry no trace context', async () => {
  const { client, metas } = await chain({ isTraced: false })
  const observer = observe({ metrics: false, traces: true })
  await observer.ready
  await client.call('calc__add')
  await inSpan('first', () => client.call('calc__add'))
  await observer.close()
  await inSpan('second', () => client.call('calc__add'))
  const [outside, inside, after] = metas
  expect(outside).not.toHaveProperty('traceparent')
  const first = telemetry.spans().find(({ name }) => name === 'first')
  expect(inside?.traceparent).toBe(`00-${first?.traceId}-${first?.spanId}-01`)
  expect(after).not.toHaveProperty('traceparent')
})

it('baggage of an application travels with its calls, and does not replace the baggage of a call', async () => {
  const { client, metas } = await chain({ isTraced: true })
  const baggage = propagation.createBaggage({ user: { value: 'Ada Lovelace' } })
  await context.with(propagation.setBaggage(context.active(), baggage), async () => {
    await client.call('calc__add')
    await inSpan('application', () => client.call('calc__add'))
    const params = { name: 'calc__add', arguments: {}, _meta: { baggage: 'user=x' } }
    await client.request('tools/call', params)
  })
  expect(metas.map(meta => meta.baggage)).toEqual([
    'user=Ada%20Lovelace',
    'user=Ada%20Lovelace',
    'user=x',
  ])
})

it('without an SDK no span is created, and no context is added or changed', async () => {
  unregisterTelemetry()
  const { client, metas } = await chain({ isTraced: true })
  const names = () => Object.keys(metas.at(-1) ?? {}).filter(key => !key.includes('/'))
  await inSpan('application', () => client.call('calc__add'))
  expect(names()).toEqual([])
  const named = { traceparent: callersTrace, tracestate: 'a=1', baggage: 'user=x' }
  await client.request('tools/call', { name: 'calc__add', arguments: {}, _meta: named })
  expect(metas.at(-1)).toMatchObject(named)
  expect(telemetry.spans()).toEqual([])
})

describe('background work is part of no trace', () => {
  it('health checks of a router, whichever code created the router or calls it', async () => {
    const server = new Server({ name: 'calc', version: '1' })
    server.tool('add', {}, () => '3')
    await traced(server)
    const behind = await listen(server, 'tcp://127.0.0.1:0')
    onTestFinished(() => behind.close())
    const router = await inSpan('startup', async () => {
      const made = new Router({
        servers: { calc: { url: behind.address, health: { intervalMs: 1 } } },
      })
      await made.ready()
      return made
    })
    onTestFinished(() => router.close())
    await traced(router)
    const client = await connect(router)
    onTestFinished(() => client.close())
    const signs = () => telemetry.spans().filter(({ name }) => name === 'server/discover')
    for (let round = 0; round < 5; round++) {
      const before = signs().length
      await inSpan('application', () => client.call('calc__add'))
      await expect.poll(() => signs().length).toBeGreaterThan(before + 1)
    }
    expect(signs().map(({ parent }) => parent)).toEqual(signs().map(() => undefined))
    const startup = telemetry.spans().filter(({ name }) => name === 'startup')
    const alone = telemetry.spans().filter(({ traceId }) => traceId === startup[0]?.traceId)
    expect(alone).toEqual(startup)
  })

  it('the reconnection of a client', async () => {
    const server = new Server({ name: 'calc', version: '1' })
    server.tool('add', {}, () => '3')
    await traced(server)
    const behind = await listen(server, 'tcp://127.0.0.1:0')
    onTestFinished(() => behind.close())
    const { address, cut } = await relayTo(behind.address)
    const revisions = ['2025-11-25'] as const
    const client = await inSpan('startup', () => connect(address, { revisions }))
    onTestFinished(() => client.close())
    cut()
    const opened = () => telemetry.spans().filter(({ name }) => name === 'initialize')
    await expect.poll(() => opened().length).toBe(2)
    const [startup] = telemetry.spans().filter(({ name }) => name === 'startup')
    expect(opened().map(({ parent }) => parent)).toEqual([startup?.spanId, undefined])
  })
})

it('a retried call carries the trace of no other call', async () => {
  const server = new Server({ name: 'calc', version: '1' }, { revisions: ['2025-11-25'] })
  const metas: Record<string, unknown>[] = []
  let letGo = (): void => {}
  server.tool('look', { annotations: { readOnlyHint: true } }, (_, { meta }) => {
    if (metas.push(meta) !== 2) return 'seen'
    return new Promise<string>(resolve => {
      letGo = () => resolve('too late')
    })
  })
  const behind = await listen(server, 'tcp://127.0.0.1:0')
  onTestFinished(() => behind.close())
  const relays = [await relayTo(behind.address), await relayTo(behind.address)]
  const urls = relays.map(({ address }) => address)
  // The router itself is not traced, but its process is.
  const observer = observe({ metrics: false, traces: true })
  onTestFinished(() => observer.close())
  await observer.ready
  const router = new Router({
    servers: {
      calc: { urls, connections: 'per-caller', trustAnnotations: true, retry: { budget: 1 } },
    },
  })
  onTestFinished(() => router.close({ drainMs: 0 }))
  const client = await connect(router, { revisions: ['2025-11-25'] })
  onTestFinished(() => client.close())
  await router.ready()
  // Opens the connection that is lost during the next call.
  await inSpan('first', () => client.call('calc__look'))
  const again = client.call('calc__look')
  await expect.poll(() => metas.length).toBe(2)
  for (const { cut } of relays) cut()
  expect((await again).text).toBe('seen')
  letGo()
  expect(metas.map(meta => meta.traceparent === undefined)).toEqual([false, true, true])
})

describe.each(eras)('spans of a caller of %s', caller => {
  it.each(['http', 'ws'])('share a trace over %s too, and all of them end', async scheme => {
    const server = new Server({ name: 'calc', version: '1' })
    server.tool('add', {}, () => '3')
    server.tool('abortable', {}, (_, { signal }) => once(signal, 'abort').then(() => 'too late'))
    server.tool('hang', {}, () => new Promise<string>(() => {}))
    const cancelled = {
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'error.type': 'cancelled' },
    }
    await traced(server)
    const behind = await listen(server, `${scheme}://127.0.0.1:0`)
    onTestFinished(() => behind.close())
    const router = new Router({ servers: { calc: { url: behind.address } } })
    onTestFinished(() => router.close({ drainMs: 0 }))
    await traced(router)
    const front = await listen(router, `${scheme}://127.0.0.1:0`)
    onTestFinished(() => front.close())
    const client = await connect(front.address, { revisions: [caller] })
    onTestFinished(() => client.close())
    await router.ready()
    const changes = client.changes({ tools: true })
    void changes.next()
    for (let round = 0; round < 3; round++) {
      telemetry.forget()
      await inSpan('application', () => client.call('calc__add'))
      const spans = ['application', 'tools/call calc__add', 'tools/call add'].map(wanted =>
        telemetry.spans().find(({ name }) => name === wanted),
      )
      const [application, routed, served] = spans
      expect([routed?.parent, served?.parent]).toEqual([application?.spanId, routed?.spanId])
      expect(new Set(spans.map(span => span?.traceId)).size).toBe(1)
      expect(spans.flatMap(span => span?.links ?? [])).toEqual([])
    }
    const ended = (name: string) => telemetry.spans().find(span => span.name === name)
    for (const tool of ['abortable', 'hang']) {
      const stop = new AbortController()
      const calling = client.call(`calc__${tool}`, {}, { signal: stop.signal })
      await expect.poll(() => telemetry.unfinished()).toContain(`tools/call ${tool}`)
      stop.abort(new Error('enough'))
      await expect(calling).rejects.toThrow('enough')
      await expect.poll(() => ended(`tools/call ${tool}`)).toMatchObject(cancelled)
      expect(ended(`tools/call calc__${tool}`)).toMatchObject(cancelled)
    }
    await client.close()
    await front.close()
    await router.close({ drainMs: 0 })
    await behind.close()
    await expect.poll(() => telemetry.unfinished()).toEqual([])
  })
})

/** A relay to an address whose connections can be cut. */
async function relayTo(address: string) {
  const sockets = new Set<Socket>()
  const relay = createServer(near => {
    const far = connectTcp(Number(new URL(address).port), '127.0.0.1')
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => other.destroy())
      one.pipe(other)
    }
  })
  await new Promise<void>(resolve => relay.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  onTestFinished(() => {
    cut()
    relay.close()
  })
  return { address: `tcp://127.0.0.1:${(relay.address() as AddressInfo).port}`, cut }
}
