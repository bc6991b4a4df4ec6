import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { proves } from '../../test/requirements.ts'
import { allRevisions, asked } from '../../test/support/asking.ts'
import { type Recorded, registerSpans, unregisterSpans } from '../../test/support/spans.ts'
import { turn } from '../../test/support/wire.ts'
import { Server } from '../server/server.ts'
import { type Tracing, tracing } from './trace.ts'
import { traceOf, withTrace } from './trace-context.ts'

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const traceId = '0af7651916cd43dd8448eb211c80319c'

describe('the trace of a message', () => {
  it.each([
    ['a parent', { traceparent }, { traceparent }],
    [
      'all three',
      { traceparent, tracestate: 'a=1', baggage: 'b=2', x: 3 },
      { traceparent, tracestate: 'a=1', baggage: 'b=2' },
    ],
    ['baggage alone', { baggage: 'b=2' }, { baggage: 'b=2' }],
    ['a state without a parent', { tracestate: 'a=1' }, undefined],
    ['a state of a broken parent', { traceparent: '00-1', tracestate: 'a=1' }, undefined],
    ['a trace of zeros', { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` }, undefined],
    ['capital letters', { traceparent: traceparent.toUpperCase() }, undefined],
    ['a forbidden version', { traceparent: `ff${traceparent.slice(2)}` }, undefined],
    ['a line break', { traceparent, tracestate: 'a=1\r\nx: y' }, { traceparent }],
    ['too much', { traceparent, baggage: 'x'.repeat(10_000) }, { traceparent }],
    ['another type', { traceparent: 7, baggage: ['b'] }, undefined],
    ['no object', 'traceparent', undefined],
    ['nothing', undefined, undefined],
  ])('is read from %s', (_, meta, expected) => {
    proves('B13')
    expect(traceOf(meta)).toEqual(expected)
  })

  it('takes the place of another one, and nothing else', () => {
    const meta = { traceparent: 'x', tracestate: 'old=1', baggage: 'old=1', 'a/b': 1 }
    expect(withTrace(meta, { traceparent, baggage: 'b=2' })).toEqual({
      traceparent,
      baggage: 'b=2',
      'a/b': 1,
    })
    expect(withTrace(meta, undefined)).toEqual({ 'a/b': 1 })
    expect(withTrace(undefined, { traceparent: 'broken', tracestate: 'a=1' })).toEqual({})
    expect(meta.traceparent).toBe('x')
  })
})

async function serverWith(tracer: Tracing) {
  const server = new Server({ name: 'test', version: '1' }, { onError: () => {} })
  server.use(tracer.middleware)
  server.tool('echo', {}, () => JSON.stringify(tracer.current() ?? null))
  server.tool('slow', {}, async () => {
    await turn()
    return JSON.stringify(tracer.current() ?? null)
  })
  server.tool('bad', {}, () => {
    throw new Error('no')
  })
  server.resource('r', 'r:///1', {}, () => {
    throw new Error('the password is 123')
  })
  await tracer.ready
  return server
}

describe.each(allRevisions)('spans in %s', revision => {
  let spans: Recorded[] = []
  beforeEach(() => {
    unregisterSpans()
    spans = registerSpans()
  })
  afterEach(unregisterSpans)

  it('are children of what the request names, and what it calls belongs to them', async () => {
    const client = await asked(await serverWith(tracing()), revision)
    spans.splice(0)
    for (const name of ['echo', 'slow']) {
      const { result } = await client.ask('tools/call', { name, _meta: { traceparent } })
      const [{ text = '' } = {}] = (result?.content ?? []) as { text?: string }[]
      const spanId = spans.at(-1)?.spanId
      expect(JSON.parse(text)).toEqual({ traceparent: `00-${traceId}-${spanId}-01` })
    }
    expect(spans).toMatchObject([
      { name: 'tools/call echo', parent: 'b7ad6b7169203331', status: undefined, ends: 1 },
      { name: 'tools/call slow', parent: 'b7ad6b7169203331', status: undefined, ends: 1 },
    ])
    expect(spans[0]?.options.kind).toBe(SpanKind.SERVER)
    expect(spans[0]?.attributes).toMatchObject({
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': revision,
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'echo',
      'jsonrpc.request.id': expect.any(String),
    })
  })

  it('tell what failed, in words that were meant for callers', async () => {
    const client = await asked(await serverWith(tracing()), revision)
    spans.splice(0)
    await client.ask('tools/call', { name: 'bad' })
    await client.ask('tools/call', { name: 'none' })
    await client.ask('resources/read', { uri: 'r:///1' })
    await turn()
    const told = spans.map(({ attributes, status }) => {
      const { 'error.type': type, 'rpc.response.status_code': number } = attributes
      return [type, number, attributes['trunkline.error.kind'], status]
    })
    expect(told).toEqual([
      ['tool_error', undefined, undefined, SpanStatusCode.ERROR],
      ['-32602', '-32602', 'tool_not_found', SpanStatusCode.ERROR],
      ['-32603', '-32603', undefined, SpanStatusCode.ERROR],
    ])
    expect(spans.every(({ ends }) => ends === 1)).toBe(true)
    expect(JSON.stringify(spans)).not.toContain('password')
  })
})

describe('tracing', () => {
  afterEach(unregisterSpans)

  it('does nothing where OpenTelemetry is not installed', async () => {
    const missing = tracing({ load: () => Promise.reject(new Error('Cannot find package')) })
    expect(await missing.ready).toBe(false)
    const client = await asked(await serverWith(missing), '2025-11-25')
    expect((await client.ask('tools/call', { name: 'echo' })).result).toBeDefined()
    expect(missing.current()).toBeUndefined()
  })

  it('makes spans from when a tracer is registered until it no longer is', async () => {
    unregisterSpans()
    const client = await asked(await serverWith(tracing()), '2025-11-25')
    await client.ask('tools/call', { name: 'echo' })
    const spans = registerSpans()
    await client.ask('tools/call', { name: 'echo' })
    unregisterSpans()
    await client.ask('tools/call', { name: 'echo' })
    expect(spans).toHaveLength(1)
  })

  it('links to what carried the request, where that is traced too', async () => {
    unregisterSpans()
    const spans = registerSpans()
    const tracer = tracing()
    await tracer.ready
    const handler = tracer.middleware(() => ({}))
    const exchange = { signal: AbortSignal.any([]), envelope: {}, notify: () => {} }
    const carrier = { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16), traceFlags: 1 }
    const around = trace.setSpanContext(ROOT_CONTEXT, carrier)
    const call = (params: Record<string, unknown>) =>
      context.with(around, () => {
        return handler({ type: 'request', id: 1, method: 'x', params }, exchange)
      })
    call({ _meta: { traceparent } })
    call({})
    expect(spans.map(({ parent, options }) => [parent, options.links])).toEqual([
      ['b7ad6b7169203331', [{ context: carrier }]],
      ['d'.repeat(16), []],
    ])
  })
})
