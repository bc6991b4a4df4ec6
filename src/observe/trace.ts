import { RpcError } from '../jsonrpc/error.ts'
import type { Exchange, Handler, Middleware } from '../jsonrpc/handler.ts'
import type { RpcRequest } from '../jsonrpc/message.ts'
import { metaKeys, type TraceContext } from '../mcp/meta.ts'
import { promised } from '../util/promised.ts'
import { isRecord } from '../util/record.ts'
import { version } from '../util/version.ts'
import { nameIn } from './call.ts'
import { redactText } from './redact.ts'
import { traceOf } from './trace-context.ts'

/** Spans of OpenTelemetry for what a server answers. */
export interface Tracing {
  /**
   * Whether there is OpenTelemetry to give spans to: false where the package `@opentelemetry/api` is not
   * installed. Never rejects. Requests that come before it settles get no spans.
   */
  readonly ready: Promise<boolean>
  /**
   * Puts a span around each request, as a child of the one that its `_meta` names. Nothing but a look
   * at a variable while no tracer is registered.
   */
  readonly middleware: Middleware
  /** The trace of whatever is running now, for the `_meta` of calls that it makes: see `withTrace`. */
  current(): TraceContext | undefined
}

/** How tracing finds OpenTelemetry. */
export interface TracingOptions {
  /** Brings the module `@opentelemetry/api`, where it is to be another one than the one installed. */
  readonly load?: () => Promise<unknown>
}

/**
 * Begins to trace, if the package `@opentelemetry/api` is installed and the program has registered a
 * tracer provider with it, now or later. Without either nothing happens.
 */
export function tracing(options: TracingOptions = {}): Tracing {
  let api: Api | undefined
  let provider: unknown
  let tracer: Tracer | undefined
  const load = options.load ?? (() => import('@opentelemetry/api'))
  const ready = load().then(
    found => {
      // The check: it is the module of that name.
      api = found as Api
      return true
    },
    () => false,
  )
  /** The tracer of the provider that is registered at present; undefined while there is none. */
  const tracerOf = ({ trace, ProxyTracerProvider }: Api): Tracer | undefined => {
    const registered = trace.getTracerProvider()
    const inner = registered instanceof ProxyTracerProvider ? registered.getDelegate() : registered
    if (inner !== provider) {
      provider = inner
      // Where nobody has registered one there is a stand-in, which has no tracers of its own.
      const isStandIn =
        registered instanceof ProxyTracerProvider &&
        registered.getDelegateTracer('trunkline', version) === undefined
      tracer = isStandIn ? undefined : trace.getTracer('trunkline', version)
    }
    return tracer
  }
  return {
    ready,
    middleware: next => (message, exchange) => {
      if (api === undefined || message.type === 'notification') return next(message, exchange)
      const present = tracerOf(api)
      if (present === undefined) return next(message, exchange)
      return spanned(api, present, next, message, exchange)
    },
    current: () => {
      if (api === undefined) return undefined
      const carrier: Record<string, unknown> = {}
      api.propagation.inject(api.context.active(), carrier)
      return traceOf(carrier)
    },
  }
}

type Api = typeof import('@opentelemetry/api')
type Tracer = import('@opentelemetry/api').Tracer
type Span = import('@opentelemetry/api').Span
type Attributes = import('@opentelemetry/api').Attributes

function spanned(
  api: Api,
  tracer: Tracer,
  next: Handler,
  message: RpcRequest,
  exchange: Exchange,
): unknown {
  const { context, propagation, trace, SpanKind } = api
  const around = context.active()
  const meta = isRecord(message.params) ? message.params._meta : undefined
  const named = traceOf(meta)
  const parent = named === undefined ? around : propagation.extract(around, named)
  // What carried the request, such as HTTP, may be traced too: that is beside its own trace.
  const carrier = named === undefined ? undefined : trace.getSpanContext(around)
  const attributes = attributesOf(message, meta)
  const target = attributes['gen_ai.tool.name'] ?? attributes['gen_ai.prompt.name']
  const method = cut(message.method)
  const span = tracer.startSpan(
    target === undefined ? method : `${method} ${target}`,
    {
      kind: SpanKind.SERVER,
      attributes,
      links: carrier === undefined ? [] : [{ context: carrier }],
    },
    parent,
  )
  const inside = trace.setSpan(parent, span)
  return ending(api, span, exchange, () => context.with(inside, next, undefined, message, exchange))
}

/** Runs something and ends the span with it, at once or later. */
function ending(api: Api, span: Span, exchange: Exchange, run: () => unknown): unknown {
  let result: unknown
  try {
    result = promised(run())
  } catch (error) {
    endWithError(api, span, exchange, error)
    throw error
  }
  if (result instanceof Promise) {
    result.then(
      value => endWithResult(api, span, value),
      (error: unknown) => endWithError(api, span, exchange, error),
    )
  } else {
    endWithResult(api, span, result)
  }
  return result
}

function endWithResult({ SpanStatusCode }: Api, span: Span, result: unknown): void {
  if (isRecord(result) && result.isError === true) {
    span.setAttribute('error.type', 'tool_error')
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

function endWithError(
  { SpanStatusCode }: Api,
  span: Span,
  exchange: Exchange,
  error: unknown,
): void {
  if (error instanceof RpcError) {
    span.setAttribute('error.type', cut(error.kind ?? `${error.code}`))
    // The number of what has a kind is put in later, as the caller's revision wants it.
    if (error.kind === undefined) span.setAttribute('rpc.response.status_code', `${error.code}`)
    span.setStatus({ code: SpanStatusCode.ERROR, message: cut(error.message) })
  } else {
    // Its words are for the log of this program: they may hold anything.
    const isCancelled = exchange.signal.aborted
    span.setAttribute('error.type', isCancelled ? 'cancelled' : 'internal_error')
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

function attributesOf({ id, method, params }: RpcRequest, meta: unknown): Attributes {
  const name = nameIn(method, params)
  const revision = isRecord(meta) ? meta[metaKeys.protocolVersion] : undefined
  const attributes: Attributes = { 'mcp.method.name': cut(method) }
  if (id !== null) attributes['jsonrpc.request.id'] = cut(`${id}`)
  if (typeof revision === 'string') attributes['mcp.protocol.version'] = cut(revision)
  if (name === undefined) return attributes
  if (method === 'tools/call') {
    attributes['gen_ai.operation.name'] = 'execute_tool'
    attributes['gen_ai.tool.name'] = cut(name)
  } else if (method === 'prompts/get') {
    attributes['gen_ai.prompt.name'] = cut(name)
  } else {
    attributes['mcp.resource.uri'] = redactText(cut(name))
  }
  return attributes
}

/** Bounded, because it comes from outside. */
function cut(text: string): string {
  return text.length > 256 ? text.slice(0, 256) : text
}
