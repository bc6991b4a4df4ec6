import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type SpanOptions,
  trace,
} from '@opentelemetry/api'

/** A span as the tests look at it. */
export interface Recorded {
  readonly name: string
  readonly options: SpanOptions
  readonly traceId: string
  readonly spanId: string
  readonly parent: string | undefined
  readonly attributes: Record<string, unknown>
  status: number | undefined
  ends: number
}

/**
 * Registers with OpenTelemetry what the SDK of a program does, as far as it matters here: contexts that
 * follow the code, the format of the W3C, and spans that are kept in the list that comes back.
 */
export function registerSpans(): Recorded[] {
  const spans: Recorded[] = []
  const storage = new AsyncLocalStorage<Context>()
  context.setGlobalContextManager({
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (inside, run, self, ...args) =>
      storage.run(inside, () => run.call(self as never, ...args)),
    bind: (_, target) => target,
    enable() {
      return this
    },
    disable() {
      return this
    },
  })
  propagation.setGlobalPropagator({
    fields: () => ['traceparent'],
    inject: (from, carrier, setter) => {
      const span = trace.getSpanContext(from)
      if (span) setter.set(carrier, 'traceparent', `00-${span.traceId}-${span.spanId}-01`)
    },
    extract: (into, carrier, getter) => {
      const [, id = '', spanId = ''] = String(getter.get(carrier, 'traceparent')).split('-')
      return trace.setSpanContext(into, { traceId: id, spanId, traceFlags: 1, isRemote: true })
    },
  })
  trace.setGlobalTracerProvider({
    getTracer: () => ({
      startSpan: (name, options = {}, from = ROOT_CONTEXT) => {
        const parent = trace.getSpanContext(from)
        const number = `${spans.length + 1}`
        const own = {
          traceId: parent?.traceId ?? number.padStart(32, 'f'),
          spanId: number.padStart(16, 'b'),
          traceFlags: 1,
        }
        const span: Recorded = {
          ...own,
          name,
          options,
          parent: parent?.spanId,
          attributes: { ...options.attributes },
          status: undefined,
          ends: 0,
        }
        spans.push(span)
        const wrapped = trace.wrapSpanContext(own)
        return Object.assign(wrapped, {
          setAttribute: (key: string, value: unknown) => {
            span.attributes[key] = value
            return wrapped
          },
          setStatus: ({ code }: { code: number }) => {
            span.status = code
            return wrapped
          },
          end: () => {
            span.ends += 1
          },
        })
      },
      startActiveSpan: () => {
        throw new Error('not used')
      },
    }),
  })
  return spans
}

/** Takes all of it away again. */
export function unregisterSpans(): void {
  trace.disable()
  context.disable()
  propagation.disable()
}
