import { codes, RpcError } from '../../jsonrpc/error.ts'
import type { Exchange, Handler, Middleware } from '../../jsonrpc/handler.ts'
import type { RpcRequest } from '../../jsonrpc/message.ts'
import { toWire } from '../../mcp/errors/wire.ts'
import { metaKeys, type TraceContext } from '../../mcp/meta.ts'
import type { Profile, ProfileName } from '../../mcp/profile.ts'
import { defined } from '../../util/defined.ts'
import { promised } from '../../util/promised.ts'
import { isRecord } from '../../util/record.ts'
import { version } from '../../util/version.ts'
import { nameIn } from '../call.ts'
import { introductionOf } from '../caller.ts'
import { redactText } from '../log/redact.ts'
import { traceOf } from './context.ts'

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
  /** Runs something as part of no trace, wherever it is begun, and gives what it gives. */
  outside<T>(run: () => T): T
}

/** How tracing finds OpenTelemetry. */
export interface TracingOptions {
  /** Brings the module `@opentelemetry/api`, where it is to be another one than the one installed. */
  readonly load?: () => Promise<unknown>
  /** How the server says errors on the wire, for the numbers in the spans; `'mcp'` unless said. */
  readonly profile?: ProfileName | Profile
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
      // The check: it is the module of that name. A copy, because looking into a module costs each time.
      api = { ...(found as Api) }
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
    middleware: next => {
      // A middleware is put together once for each connection, so this is about one client.
      const spans: Spans = { profile: options.profile, next, revision: undefined }
      return (message, exchange) => {
        if (api === undefined || message.type === 'notification') return next(message, exchange)
        const present = tracerOf(api)
        if (present === undefined) return next(message, exchange)
        return spanned(api, present, spans, message, exchange)
      }
    },
    current: () => {
      if (api === undefined) return undefined
      const active = api.context.active()
      if (active === api.ROOT_CONTEXT) return undefined
      const carrier: Record<string, unknown> = {}
      api.propagation.inject(active, carrier)
      const trace = traceOf(carrier)
      return trace && defined(trace)
    },
    outside: run => (api === undefined ? run() : api.context.with(api.ROOT_CONTEXT, run)),
  }
}

type Api = typeof import('@opentelemetry/api')
type Context = import('@opentelemetry/api').Context
type Tracer = import('@opentelemetry/api').Tracer
type Span = import('@opentelemetry/api').Span
type Attributes = import('@opentelemetry/api').Attributes

/** What the spans of one connection have in common. */
interface Spans {
  readonly next: Handler
  readonly profile: ProfileName | Profile | undefined
  /** What `initialize` has settled; requests of the other era say it themselves. */
  revision: string | undefined
}

/** One request and its span. */
interface Spanned {
  readonly api: Api
  readonly span: Span
  readonly spans: Spans
  readonly message: RpcRequest
  readonly exchange: Exchange
  /** Whether its span has ended. Who has been given up may still be answered, by code that goes on. */
  isOver: boolean
}

function spanned(
  api: Api,
  tracer: Tracer,
  spans: Spans,
  message: RpcRequest,
  exchange: Exchange,
): unknown {
  const { context, propagation, trace, SpanKind } = api
  const around = carrying(api)
  const meta = isRecord(message.params) ? message.params._meta : undefined
  const named = traceOf(meta)
  const parent = named === undefined ? around : propagation.extract(around, named)
  // What carried the request, such as HTTP, may be traced too: that is beside its own trace. Within a
  // process it may be the very span that is named.
  const carrier = trace.getSpanContext(around)
  const isBeside = carrier !== undefined && carrier.spanId !== trace.getSpanContext(parent)?.spanId
  const attributes = attributesOf(message, revisionIn(message) ?? spans.revision)
  const target = attributes['gen_ai.tool.name'] ?? attributes['gen_ai.prompt.name']
  const method = cut(message.method)
  const span = tracer.startSpan(
    target === undefined ? method : `${method} ${target}`,
    {
      kind: SpanKind.SERVER,
      attributes,
      links: isBeside ? [{ context: carrier }] : [],
    },
    parent,
  )
  const inside = trace.setSpan(parent, span)
  const { next } = spans
  return ending({ api, span, spans, message, exchange, isOver: false }, () =>
    context.with(inside, next, undefined, message, exchange),
  )
}

/**
 * The context that a request was brought in. Where its span has ended, nothing is being carried: it is the
 * one that somebody began to listen in, which everything that comes by that connection would remember.
 */
function carrying({ context, trace, TraceFlags, ROOT_CONTEXT }: Api): Context {
  const active = context.active()
  const span = trace.getSpan(active)
  if (span === undefined || span.isRecording()) return active
  const { traceFlags, isRemote } = span.spanContext()
  // Those that are not sampled never record anything; their children are not sampled either.
  const hasEnded = (traceFlags & TraceFlags.SAMPLED) !== 0 && isRemote !== true
  return hasEnded ? ROOT_CONTEXT : active
}

/** Runs something and ends the span with it, at once or later. */
function ending(spanned: Spanned, run: () => unknown): unknown {
  let result: unknown
  try {
    result = promised(run())
  } catch (error) {
    endWithError(spanned, error)
    throw error
  }
  if (result instanceof Promise) {
    const { message, exchange } = spanned
    // Code that is not told, or does not listen, may go on for ever. To be given up is how listening ends.
    if (message.method !== 'subscriptions/listen') exchange.onAbort?.(() => endCancelled(spanned))
    result.then(
      value => endWithResult(spanned, value),
      (error: unknown) => endWithError(spanned, error),
    )
  } else {
    endWithResult(spanned, result)
  }
  return result
}

function endWithResult(spanned: Spanned, result: unknown): void {
  if (spanned.isOver) return
  const { api, span, spans, message } = spanned
  if (message.method === 'initialize') {
    spans.revision = introductionOf(message.params, result).revision
    if (spans.revision !== undefined) span.setAttribute('mcp.protocol.version', spans.revision)
  }
  if (isRecord(result) && result.isError === true) {
    span.setAttribute('error.type', 'tool_error')
    span.setStatus({ code: api.SpanStatusCode.ERROR })
  }
  end(spanned)
}

function endWithError(spanned: Spanned, error: unknown): void {
  if (spanned.isOver) return
  const { api, span, spans, message, exchange } = spanned
  const code = api.SpanStatusCode.ERROR
  if (!(error instanceof RpcError) && exchange.signal.aborted) {
    endCancelled(spanned)
    return
  }
  if (error instanceof RpcError) {
    const era = revisionIn(message) === undefined ? 'session' : 'stateless'
    const { code: number } = toWire(error, { profile: spans.profile, revision: { era } })
    endWithNumber(span, number)
    if (error.kind !== undefined) span.setAttribute('trunkline.error.kind', cut(error.kind))
    span.setStatus({ code, message: cut(error.message) })
  } else {
    // Its words are for the log of this program: they may hold anything.
    endWithNumber(span, codes.internalError)
    span.setStatus({ code })
  }
  end(spanned)
}

/** Nobody is answered. */
function endCancelled(spanned: Spanned): void {
  if (spanned.isOver) return
  spanned.span.setAttribute('error.type', 'cancelled')
  spanned.span.setStatus({ code: spanned.api.SpanStatusCode.ERROR })
  end(spanned)
}

function end(spanned: Spanned): void {
  spanned.isOver = true
  spanned.span.end()
}

/** The number of the answer, under both of the names that the conventions have for it. */
function endWithNumber(span: Span, number: number): void {
  span.setAttribute('error.type', `${number}`)
  span.setAttribute('rpc.response.status_code', `${number}`)
}

/** The revision that a request of a stateless one names. */
function revisionIn({ params }: RpcRequest): string | undefined {
  const meta = isRecord(params) ? params._meta : undefined
  const revision = isRecord(meta) ? meta[metaKeys.protocolVersion] : undefined
  return typeof revision === 'string' ? cut(revision) : undefined
}

function attributesOf(
  { id, method, params }: RpcRequest,
  revision: string | undefined,
): Attributes {
  const name = nameIn(method, params)
  const attributes: Attributes = { 'mcp.method.name': cut(method) }
  if (id !== null) attributes['jsonrpc.request.id'] = cut(`${id}`)
  if (revision !== undefined) attributes['mcp.protocol.version'] = revision
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
