import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import { allRevisions, answeringClient, stateless } from '../../../test/support/answering-client.ts'
import {
  registerTelemetry,
  type Telemetry,
  unregisterTelemetry,
} from '../../../test/support/telemetry.js'
import { turn } from '../../../test/support/wire.ts'
import { Server } from '../../server/server.ts'
import { version } from '../../util/version.ts'
import { traceOf, withTrace } from './context.ts'
import { type Tracing, tracing } from './trace.ts'

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

  it('replaces another one, and nothing else', () => {
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
  server.prompt('p', {}, () => 'Hello')
  server.resource('r', 'r:///1', {}, () => {
    throw new Error('the password is 123')
  })
  await tracer.ready
  return server
}

describe.each(allRevisions)('spans in %s', revision => {
  let telemetry: Telemetry
  beforeEach(() => {
    unregisterTelemetry()
    telemetry = registerTelemetry()
  })
  afterEach(() => {
    expect([telemetry.complaints, telemetry.unfinished()]).toEqual([[], []])
    unregisterTelemetry()
  })

  it('are children of the span in the request, and parents of the calls they make', async () => {
    const client = await answeringClient(await serverWith(tracing()), revision)
    telemetry.forget()
    for (const name of ['echo', 'slow']) {
      const { result } = await client.request('tools/call', { name, _meta: { traceparent } })
      const [{ text = '' } = {}] = (result?.content ?? []) as { text?: string }[]
      const spanId = telemetry.spans().at(-1)?.spanId
      expect(JSON.parse(text)).toEqual({ traceparent: `00-${traceId}-${spanId}-01` })
    }
    const common = { kind: SpanKind.SERVER, traceId, parent: 'b7ad6b7169203331', links: [] }
    expect(telemetry.spans()).toMatchObject([
      { ...common, name: 'tools/call echo', status: { code: SpanStatusCode.UNSET } },
      { ...common, name: 'tools/call slow', status: { code: SpanStatusCode.UNSET } },
    ])
    const [first] = telemetry.spans()
    expect(first?.scope).toMatchObject({ name: 'trunkline', version })
    expect(first?.attributes).toEqual({
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': revision,
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'echo',
      'jsonrpc.request.id': expect.any(String),
    })
  })

  it('are named after their subject, and that of initialize has the revision', async () => {
    const client = await answeringClient(await serverWith(tracing()), revision)
    await client.request('tools/list')
    await client.request('prompts/get', { name: 'p' })
    await client.request('resources/read', { uri: 'r://user:word@host/1' })
    const opening = revision === stateless ? [] : ['initialize']
    const spans = telemetry.spans()
    expect(spans.map(({ name }) => name)).toEqual([
      ...opening,
      'tools/list',
      'prompts/get p',
      'resources/read',
    ])
    expect(new Set(spans.map(({ attributes }) => attributes['mcp.protocol.version']))).toEqual(
      new Set([revision]),
    )
    const [prompt, resource] = spans.slice(-2)
    expect(prompt?.attributes['gen_ai.prompt.name']).toBe('p')
    expect(resource?.attributes['mcp.resource.uri']).toBe('r://[redacted]@host/1')
    // None of them names a trace, so each is the beginning of one.
    expect(new Set(spans.map(span => span.traceId)).size).toBe(spans.length)
  })

  it('report errors, with messages that were meant for callers', async () => {
    const client = await answeringClient(await serverWith(tracing()), revision)
    telemetry.forget()
    await client.request('tools/call', { name: 'bad' })
    await client.request('tools/call', { name: 'none' })
    await client.request('resources/read', { uri: 'r:///1' })
    await turn()
    const spans = telemetry.spans().map(({ attributes, status, events }) => {
      const { 'error.type': type, 'rpc.response.status_code': number } = attributes
      return [type, number, attributes['trunkline.error.kind'], status, events]
    })
    const code = SpanStatusCode.ERROR
    expect(spans).toEqual([
      ['tool_error', undefined, undefined, { code }, []],
      ['-32602', '-32602', 'tool_not_found', { code, message: 'Tool not found: none' }, []],
      ['-32603', '-32603', undefined, { code }, []],
    ])
    expect(JSON.stringify(telemetry.spans())).not.toContain('password')
  })
})

describe('tracing', () => {
  afterEach(unregisterTelemetry)

  it('has no effect if OpenTelemetry is not installed', async () => {
    const missing = tracing({ load: () => Promise.reject(new Error('Cannot find package')) })
    expect(await missing.ready).toBe(false)
    const client = await answeringClient(await serverWith(missing), '2025-11-25')
    expect((await client.request('tools/call', { name: 'echo' })).result).toBeDefined()
    expect(missing.current()).toBeUndefined()
    expect(missing.outside(() => 'run')).toBe('run')
  })

  it('makes spans from when a tracer is registered until it no longer is', async () => {
    unregisterTelemetry()
    const client = await answeringClient(await serverWith(tracing()), '2025-11-25')
    await client.request('tools/call', { name: 'echo' })
    const telemetry = registerTelemetry()
    await client.request('tools/call', { name: 'echo' })
    unregisterTelemetry()
    await client.request('tools/call', { name: 'echo' })
    expect(telemetry.spans()).toHaveLength(1)
  })

  it('honors the sampling decision of the caller, and propagates it', async () => {
    unregisterTelemetry()
    const telemetry = registerTelemetry()
    const client = await answeringClient(await serverWith(tracing()), '2025-11-25')
    telemetry.forget()
    const _meta = { traceparent: `${traceparent.slice(0, -2)}00` }
    const { result } = await client.request('tools/call', { name: 'slow', _meta })
    const [{ text = '' } = {}] = (result?.content ?? []) as { text?: string }[]
    expect(JSON.parse(text).traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`))
    expect(telemetry.spans()).toEqual([])
  })

  it('finds an SDK that was registered with another copy of the package', async () => {
    unregisterTelemetry()
    const telemetry = registerTelemetry()
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-api-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const require = createRequire(import.meta.url)
    const own = join(dirname(require.resolve('@opentelemetry/api')), '../..')
    for (const part of ['package.json', 'build/src']) {
      cpSync(join(own, part), join(folder, part), { recursive: true })
    }
    const tracer = tracing({ load: async () => require(join(folder, 'build/src/index.js')) })
    expect(await tracer.ready).toBe(true)
    const client = await answeringClient(await serverWith(tracer), stateless)
    const { result } = await client.request('tools/call', { name: 'slow', _meta: { traceparent } })
    const [{ text = '' } = {}] = (result?.content ?? []) as { text?: string }[]
    const [span, ...more] = telemetry.spans()
    expect(more).toEqual([])
    expect(span).toMatchObject({ name: 'tools/call slow', parent: 'b7ad6b7169203331' })
    expect(JSON.parse(text)).toEqual({ traceparent: `00-${traceId}-${span?.spanId}-01` })
  })
})

describe('a span of the transport', () => {
  const exchange = { signal: AbortSignal.any([]), envelope: {}, notify: () => {} }

  async function carried(params: Record<string, unknown>, isOver: boolean) {
    unregisterTelemetry()
    onTestFinished(unregisterTelemetry)
    const telemetry = registerTelemetry()
    const tracer = tracing()
    await tracer.ready
    const handler = tracer.middleware(() => ({}))
    const carrier = trace.getTracer('http').startSpan('POST')
    if (isOver) carrier.end()
    context.with(trace.setSpan(ROOT_CONTEXT, carrier), () => {
      return handler({ type: 'request', id: 1, method: 'x', params }, exchange)
    })
    carrier.end()
    const span = telemetry.spans().find(({ name }) => name === 'x')
    return { parent: span?.parent, links: span?.links, carrier: carrier.spanContext().spanId }
  }

  it('is linked if the request has another trace, and is the parent if it has none', async () => {
    const named = await carried({ _meta: { traceparent } }, false)
    expect(named).toMatchObject({ parent: 'b7ad6b7169203331', links: [named.carrier] })
    const unnamed = await carried({}, false)
    expect(unnamed).toMatchObject({ parent: unnamed.carrier, links: [] })
  })

  it('is ignored once it has ended: then it is the one in which listening started', async () => {
    const named = await carried({ _meta: { traceparent } }, true)
    expect(named).toMatchObject({ parent: 'b7ad6b7169203331', links: [] })
    expect(await carried({}, true)).toMatchObject({ parent: undefined, links: [] })
  })
})
