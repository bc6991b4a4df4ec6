/*
 * The OpenTelemetry SDK as programs set it up. Plain JavaScript, because programs that tests start
 * use it too.
 */
import { appendFileSync } from 'node:fs'
import { context, DiagLogLevel, diag, propagation, trace } from '@opentelemetry/api'
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'

export function registerTelemetry(options = {}) {
  const complaints = []
  const complain = (...words) => complaints.push(words.join(' '))
  diag.setLogger(
    { error: complain, warn: complain, info() {}, debug() {}, verbose() {} },
    DiagLogLevel.WARN,
  )
  const exporter = new InMemorySpanExporter()
  const begun = []
  /** Records spans when they start, and writes finished ones to a file for other processes. */
  const noting = {
    onStart: span => void begun.push(span),
    onEnd: span => {
      if (options.file !== undefined)
        appendFileSync(options.file, `${JSON.stringify(plainSpan(span))}\n`)
    },
    forceFlush: async () => {},
    shutdown: async () => {},
  }
  const provider = new NodeTracerProvider({
    sampler: options.sampler,
    spanProcessors: [noting, new SimpleSpanProcessor(exporter)],
  })
  provider.register({ propagator: options.propagator })
  return {
    complaints,
    spans: () => {
      const ended = new Set(exporter.getFinishedSpans())
      return begun.filter(span => ended.has(span)).map(plainSpan)
    },
    unfinished: () => begun.filter(span => !span.ended).map(({ name }) => name),
    forget: () => {
      begun.length = 0
      exporter.reset()
    },
  }
}

export function unregisterTelemetry() {
  trace.disable()
  context.disable()
  propagation.disable()
  diag.disable()
}

/** Returns a span as plain data that can be printed. */
function plainSpan(span) {
  const { traceId, spanId, traceState } = span.spanContext()
  const { name, kind, status, attributes, parentSpanContext: parent } = span
  return {
    name,
    kind,
    status,
    attributes,
    traceId,
    spanId,
    traceState: traceState?.serialize(),
    parent: parent?.spanId,
    links: span.links.map(link => link.context.spanId),
    events: span.events.map(event => event.name),
    scope: span.instrumentationScope,
  }
}
