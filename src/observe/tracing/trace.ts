import { codes, RpcError } from '../../jsonrpc/error.ts'
import type { Exchange, Handler, Middleware } from '../../jsonrpc/handler.ts'
import type { RpcRequest } from '../../jsonrpc/message.ts'
import { eraOf } from '../../mcp/caller.ts'
import { toWire } from '../../mcp/errors/wire.ts'
import { metaKeys, type TraceContext } from '../../mcp/meta.ts'
import type { Profile, ProfileName } from '../../mcp/profile.ts'
import { defined, isRecord, ownMember } from '../../util/objects.ts'
import { fromThenable } from '../../util/promises.ts'
import { version } from '../../util/version.ts'
import { nameIn } from '../call.ts'
import { initializeInfo } from '../caller.ts'
import { redactText } from '../log/redact.ts'
import { traceOf } from './context.ts'

/** OpenTelemetry spans for the requests that a server handles. */
export interface Tracing {
  /**
   * Settles with true when OpenTelemetry is loaded, and with false if `@opentelemetry/api` is not installed.
   * Never rejects. Requests that arrive before it settles get no spans.
   */
  readonly ready: Promise<boolean>
  /**
   * Creates a span for each request, as a child of the one in its `_meta`. Costs one branch per request
   * while no tracer provider is registered.
   */
  readonly middleware: Middleware
  /** Returns the current trace context, for the `_meta` of outgoing calls: see `withTrace`. */
  current(): TraceContext | undefined
  /** Runs a function outside of any trace, and returns its result. */
  outside<T>(run: () => T): T
}

/** Options of tracing. */
export interface TracingOptions {
  /** Loads the module `@opentelemetry/api`; imports the installed package by default. */
  readonly load?: () => Promise<unknown>
  /** The error profile of the server, for the error codes in spans; `'mcp'` by default. */
  readonly profile?: ProfileName | Profile
}

/**
 * Starts tracing if the package `@opentelemetry/api` is installed and the program registers a tracer
 * provider, now or later. Otherwise it has no effect.
 */
export function tracing(options: TracingOptions = {}): Tracing {
  let api: Api | undefined
  let provider: unknown
  let tracer: Tracer | undefined
  const load = options.load ?? (() => import('@opentelemetry/api'))
  const ready = load().then(
    found => {
      // The check: it is the module of that name. A copy, because module namespace reads are slow.
      api = { ...(found as Api) }
      return true
    },
    () => false,
  )
  /** Returns the tracer of the registered provider; undefined while there is none. */
  const tracerOf = ({ trace, ProxyTracerProvider }: Api): Tracer | undefined => {
    const registered = trace.getTracerProvider()
    const inner = registered instanceof ProxyTracerProvider ? registered.getDelegate() : registered
    if (inner !== provider) {
      provider = inner
      // Without a registered provider the API returns a proxy, which has no delegate tracer.
      const isProxyOnly =
        registered instanceof ProxyTracerProvider &&
        registered.getDelegateTracer('trunkline', version) === undefined
      tracer = isProxyOnly ? undefined : trace.getTracer('trunkline', version)
    }
    return tracer
  }
  return {
    ready,
    middleware: next => {
      // A middleware is composed once for each connection, so this is about one client.
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

/** The shared state of the spans of one connection. */
interface Spans {
  readonly next: Handler
  readonly profile: ProfileName | Profile | undefined
  /** The revision negotiated by `initialize`; stateless requests carry their own. */
  revision: string | undefined
}

/** One request and its span. */
interface SpannedRequest {
  readonly api: Api
  readonly span: Span
  readonly spans: Spans
  readonly message: RpcRequest
  readonly exchange: Exchange
  /** Whether the span has ended. The handler of a cancelled request may still return later. */
  hasEnded: boolean
}

function spanned(
  api: Api,
  tracer: Tracer,
  spans: Spans,
  message: RpcRequest,
  exchange: Exchange,
): unknown {
  const { context, propagation, trace, SpanKind } = api
  const ambient = transportContext(api)
  const meta = ownMember(message.params, '_meta')
  const named = traceOf(meta)
  const parent = named === undefined ? ambient : propagation.extract(ambient, named)
  // The transport, such as HTTP, may have a span too, in another trace: it becomes a link. Within one
  // process it may be the very span in `_meta`.
  const carrier = trace.getSpanContext(ambient)
  const isSeparate =
    carrier !== undefined && carrier.spanId !== trace.getSpanContext(parent)?.spanId
  const attributes = attributesOf(message, revisionIn(message) ?? spans.revision)
  const target = attributes['gen_ai.tool.name'] ?? attributes['gen_ai.prompt.name']
  const method = cut(message.method)
  const span = tracer.startSpan(
    target === undefined ? method : `${method} ${target}`,
    {
      kind: SpanKind.SERVER,
      attributes,
      links: isSeparate ? [{ context: carrier }] : [],
    },
    parent,
  )
  const inside = trace.setSpan(parent, span)
  const { next } = spans
  return runInSpan({ api, span, spans, message, exchange, hasEnded: false }, () =>
    context.with(inside, next, undefined, message, exchange),
  )
}

/**
 * Returns the active context, which is that of the transport. If its span has ended, it is the context in
 * which the server was started to listen, which every message of that connection inherits; then the root
 * context is returned instead.
 */
function transportContext({ context, trace, TraceFlags, ROOT_CONTEXT }: Api): Context {
  const active = context.active()
  const span = trace.getSpan(active)
  if (span === undefined || span.isRecording()) return active
  const { traceFlags, isRemote } = span.spanContext()
  // Spans that are not sampled never record; their children are not sampled either.
  const hasEnded = (traceFlags & TraceFlags.SAMPLED) !== 0 && isRemote !== true
  return hasEnded ? ROOT_CONTEXT : active
}

/** Runs the handler and ends the span when it returns or its promise settles. */
function runInSpan(spanned: SpannedRequest, run: () => unknown): unknown {
  let result: unknown
  try {
    result = fromThenable(run())
  } catch (error) {
    endWithError(spanned, error)
    throw error
  }
  if (result instanceof Promise) {
    const { message, exchange } = spanned
    // A handler that ignores its signal may run for ever. A listen request is always ended by an abort.
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

function endWithResult(spanned: SpannedRequest, result: unknown): void {
  if (spanned.hasEnded) return
  const { api, span, spans, message } = spanned
  if (message.method === 'initialize') {
    spans.revision = initializeInfo(message.params, result).revision
    if (spans.revision !== undefined) span.setAttribute('mcp.protocol.version', spans.revision)
  }
  if (isRecord(result) && result.isError === true) {
    span.setAttribute('error.type', 'tool_error')
    span.setStatus({ code: api.SpanStatusCode.ERROR })
  }
  end(spanned)
}

function endWithError(spanned: SpannedRequest, error: unknown): void {
  if (spanned.hasEnded) return
  const { api, span, spans, message, exchange } = spanned
  const code = api.SpanStatusCode.ERROR
  if (!(error instanceof RpcError) && exchange.signal.aborted) {
    endCancelled(spanned)
    return
  }
  if (error instanceof RpcError) {
    const revision = { era: eraOf(message.params) }
    const { code: number } = toWire(error, { profile: spans.profile, revision })
    setErrorCode(span, number)
    if (error.kind !== undefined) span.setAttribute('trunkline.error.kind', cut(error.kind))
    span.setStatus({ code, message: redactText(cut(error.message)) })
  } else {
    // The message is for the log of this program only: it may contain anything.
    setErrorCode(span, codes.internalError)
    span.setStatus({ code })
  }
  end(spanned)
}

/** Ends the span of a cancelled request, which gets no response. */
function endCancelled(spanned: SpannedRequest): void {
  if (spanned.hasEnded) return
  spanned.span.setAttribute('error.type', 'cancelled')
  spanned.span.setStatus({ code: spanned.api.SpanStatusCode.ERROR })
  end(spanned)
}

function end(spanned: SpannedRequest): void {
  spanned.hasEnded = true
  spanned.span.end()
}

/** Sets the error code under both attribute names of the semantic conventions. */
function setErrorCode(span: Span, number: number): void {
  span.setAttribute('error.type', `${number}`)
  span.setAttribute('rpc.response.status_code', `${number}`)
}

/** Returns the revision in the `_meta` of a stateless request. */
function revisionIn({ params }: RpcRequest): string | undefined {
  const meta = ownMember(params, '_meta')
  const revision = ownMember(meta, metaKeys.protocolVersion)
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

/** Limits the length of a text, because it comes from a peer. */
function cut(text: string): string {
  return text.length > 256 ? text.slice(0, 256) : text
}
