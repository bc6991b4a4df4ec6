import { context, propagation, trace } from '@opentelemetry/api'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { connect } from '../../src/connect.ts'
import { listen } from '../../src/listen.ts'
import { observe } from '../../src/observe/observe.ts'
import { Router } from '../../src/router/router.ts'
import { Server } from '../../src/server/server.ts'
import { type Recorded, registerSpans, unregisterSpans } from '../support/spans.ts'

let spans: Recorded[] = []
beforeEach(() => {
  unregisterSpans()
  spans = registerSpans()
})
afterEach(unregisterSpans)

const callersTrace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

/** A client, a router and a server, each over a socket, and the `_meta` of calls that arrive at the end. */
async function chain(options: {
  readonly isTraced: boolean
  readonly caller?: string
  readonly server?: string
}) {
  const server = new Server({ name: 'calc', version: '1' }, { revisions: one(options.server) })
  const metas: Record<string, unknown>[] = []
  server.tool('add', {}, (_, { meta }) => {
    metas.push(meta)
    return '3'
  })
  if (options.isTraced) await traced(server)
  const behind = await listen(server, 'tcp://127.0.0.1:0')
  const router = new Router({ servers: { calc: { url: behind.address } } })
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
  spans.splice(0)
  return { client, metas }
}

function one(revision: string | undefined): readonly string[] | undefined {
  return revision === undefined ? undefined : [revision]
}

async function traced(endpoint: Server | Router): Promise<void> {
  const observer = observe({ endpoint, metrics: false, traces: true })
  onTestFinished(() => observer.close())
  await observer.ready
}

/** What an application does around the calls that it makes. */
async function inSpan<T>(name: string, run: () => Promise<T>): Promise<T> {
  const span = trace.getTracer('application').startSpan(name)
  try {
    return await context.with(trace.setSpan(context.active(), span), run)
  } finally {
    span.end()
  }
}

const eras = ['2025-11-25', '2026-07-28']

describe.each(eras)('a caller of %s', caller => {
  it.each(eras)('is in one trace with the router and a server of %s', async server => {
    const { client, metas } = await chain({ isTraced: true, caller, server })
    await inSpan('application', () => client.call('calc__add'))
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
    expect(spans.every(({ ends }) => ends === 1)).toBe(true)
    expect([routed?.attributes, served?.attributes]).toMatchObject([
      { 'mcp.protocol.version': caller },
      { 'mcp.protocol.version': server },
    ])
  })
})

it('a client, a router and a server of one process are in one trace, without links', async () => {
  const server = new Server({ name: 'calc', version: '1' })
  server.tool('add', {}, () => '3')
  await traced(server)
  const router = new Router({ servers: { calc: server } })
  onTestFinished(() => router.close())
  await traced(router)
  const client = await connect(router)
  onTestFinished(() => client.close())
  await router.ready()
  spans.splice(0)
  await inSpan('application', () => client.call('calc__add'))
  const [application, routed, served] = spans
  expect([routed?.parent, served?.parent]).toEqual([application?.spanId, routed?.spanId])
  expect(spans.flatMap(({ options }) => options.links ?? [])).toEqual([])
})

describe('a trace that a call names', () => {
  const named = { traceparent: callersTrace, tracestate: 'a=1', baggage: 'user=x' }
  const call = { name: 'calc__add', arguments: {}, _meta: named }

  it('goes on as it is where the router is not traced', async () => {
    const { client, metas } = await chain({ isTraced: false })
    await inSpan('application', () => client.request('tools/call', call))
    expect(metas[0]).toMatchObject(named)
    expect(spans.map(({ name }) => name)).toEqual(['application'])
  })

  it('is taken before that of the application, and the router is between it and the server', async () => {
    const { client, metas } = await chain({ isTraced: true })
    await inSpan('application', () => client.request('tools/call', call))
    const [, routed, served] = spans
    expect([routed?.parent, served?.parent]).toEqual(['b7ad6b7169203331', routed?.spanId])
    // What nobody has understood on the way stays, but for the state of another parent.
    expect(metas[0]).toMatchObject({ baggage: 'user=x' })
    expect(metas[0]).not.toHaveProperty('tracestate')
  })

  it('goes on as it is where nothing can be said of the trace of the router', async () => {
    propagation.disable()
    const { client, metas } = await chain({ isTraced: true })
    await client.request('tools/call', call)
    expect(metas[0]).toMatchObject(named)
  })
})

it('calls outside of any span, and after tracing has ended, name no trace', async () => {
  const { client, metas } = await chain({ isTraced: false })
  const observer = observe({ metrics: false, traces: true })
  await observer.ready
  await client.call('calc__add')
  await inSpan('first', () => client.call('calc__add'))
  await observer.close()
  await inSpan('second', () => client.call('calc__add'))
  const [outside, inside, after] = metas
  expect(outside).not.toHaveProperty('traceparent')
  expect(inside?.traceparent).toContain(spans.find(({ name }) => name === 'first')?.spanId)
  expect(after).not.toHaveProperty('traceparent')
})
