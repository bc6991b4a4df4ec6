import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { context, propagation, SpanStatusCode, trace } from '@opentelemetry/api'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { connect } from '../../src/connect.ts'
import type { RevisionName } from '../../src/mcp/revisions/revisions.ts'
import { observe } from '../../src/observe/observe.ts'
import {
  registerTelemetry,
  type Telemetry,
  type ToldSpan,
  unregisterTelemetry,
} from '../support/telemetry.js'

const program = fileURLToPath(new URL('../fixtures/traced.js', import.meta.url))
const eras = ['2025-11-25', '2026-07-28'] as const

let telemetry: Telemetry
beforeEach(() => {
  unregisterTelemetry()
  telemetry = registerTelemetry()
})
afterEach(unregisterTelemetry)

/** An application, a router and a server, each a process with its own SDK, and the spans they exported. */
async function chain(caller: RevisionName, server: RevisionName) {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-traces-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const files = ['router', 'server'].map(name => join(folder, name))
  for (const file of files) writeFileSync(file, '')
  const [router, behind] = files
  const options = { spans: router, behind: { spans: behind, revisions: [server] } }
  const observer = observe({ metrics: false, traces: true })
  onTestFinished(() => observer.close())
  await observer.ready
  const args = [program, JSON.stringify(options)]
  const client = await connect({ command: process.execPath, args }, { revisions: [caller] })
  onTestFinished(() => client.close())
  const spansIn = (file = ''): readonly ToldSpan[] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line))
  return { client, router: () => spansIn(router), server: () => spansIn(behind) }
}

/** Runs calls inside a span, as an application does. */
function inSpan<T>(name: string, run: () => Promise<T>): Promise<T> {
  return trace.getTracer('application').startActiveSpan(name, async span => {
    try {
      return await run()
    } finally {
      span.end()
    }
  })
}

function named(spans: readonly ToldSpan[], name: string): ToldSpan | undefined {
  const found = spans.filter(span => span.name === name)
  expect([name, found.length]).toEqual([name, 1])
  return found[0]
}

describe.each(eras)('processes of a caller of %s', caller => {
  it.each(eras)(
    'share a trace, with its baggage, with a server of %s behind a router',
    async behind => {
      const { client, router, server } = await chain(caller, behind)
      const baggage = propagation.createBaggage({ user: { value: 'Ada' } })
      const said = await context.with(propagation.setBaggage(context.active(), baggage), () =>
        inSpan('application', () => client.call('calc__add')),
      )
      await client.call('calc__fail')
      await expect.poll(() => server().some(({ name }) => name === 'tools/call fail')).toBe(true)
      await expect.poll(() => router().some(({ name }) => name.endsWith('calc__fail'))).toBe(true)

      const application = named(telemetry.spans(), 'application')
      const routed = named(router(), 'tools/call calc__add')
      const served = named(server(), 'tools/call add')
      expect([routed?.parent, served?.parent]).toEqual([application?.spanId, routed?.spanId])
      expect([routed?.traceId, served?.traceId]).toEqual([
        application?.traceId,
        application?.traceId,
      ])
      const { user, meta } = JSON.parse(said.text)
      expect(user).toBe('Ada')
      expect(meta.traceparent).toBe(`00-${routed?.traceId}-${routed?.spanId}-01`)
      expect([routed?.attributes, served?.attributes]).toMatchObject([
        { 'mcp.protocol.version': caller, 'gen_ai.tool.name': 'calc__add' },
        { 'mcp.protocol.version': behind, 'gen_ai.tool.name': 'add' },
      ])

      // A call without a trace starts its own, wherever the process started to listen.
      const failed = named(router(), 'tools/call calc__fail')
      expect(failed).toMatchObject({
        status: { code: SpanStatusCode.ERROR },
        attributes: { 'error.type': 'tool_error' },
      })
      expect(failed?.parent).toBeUndefined()
      expect(named(server(), 'tools/call fail')?.parent).toBe(failed?.spanId)
      for (const spans of [router(), server()]) {
        const startup = named(spans, 'startup')
        expect(spans.filter(({ traceId }) => traceId === startup?.traceId)).toEqual([startup])
        expect(spans.flatMap(({ links }) => links)).toEqual([])
        expect(JSON.stringify(spans)).not.toContain('password')
      }
    },
  )
})
