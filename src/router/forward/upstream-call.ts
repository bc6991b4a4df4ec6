import type { Progress } from '../../client/requests/progress.ts'
import type { Envelope } from '../../jsonrpc/channel.ts'
import type { Exchange } from '../../jsonrpc/handler.ts'
import type { Caller } from '../../mcp/caller.ts'
import { readProgressToken, serverKey } from '../../mcp/meta.ts'
import { methodRow, takesServerRequests } from '../../mcp/methods.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { InputRequest } from '../../mcp/types/input.ts'
import { isLogLevel, type LogLevel } from '../../mcp/types/logging.ts'
import type { ToolAnnotations } from '../../mcp/types/tools.ts'
import type { CallSpan } from '../../observe/call.ts'
import type { ServerSession } from '../../server/core/session.ts'
import { hasRequestedLog } from '../../server/features/logging.ts'
import { fromServer, prepareInputRequest } from '../../server/input/input-requests.ts'
import { callClient } from '../../server/input/input-run.ts'
import type { IncomingRequest } from '../../server/request.ts'
import { headersOf } from '../../server/request-context.ts'
import { limits } from '../../util/limits/limits.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import type { PooledCall } from '../connection/connection-pool.ts'
import type { InFlightCall, InFlightList } from '../connection/in-flight-list.ts'
import { publishProgress, publishServerRequest } from '../events.ts'
import { type RetryFacts, safetyOf } from '../policy/retry.ts'
import type { Instance } from '../upstream/instance.ts'
import { forwardedParams, timeoutFor } from './params.ts'
import type { ParkedCall } from './parked-calls.ts'
import { acceptsRawResult } from './results.ts'
import type { SenderMetaCache } from './sender.ts'

/** The result of a call, and where it came from. */
export interface UpstreamResult {
  readonly result: unknown
  /** Undefined if a middleware answered the call. */
  readonly instance?: Instance
  readonly connection?: UpstreamConnection
}

/** The route of a call, as far as the call needs it. `Route` implements it. */
export interface CallRoute {
  /** The name of the server. */
  readonly name: string
  readonly timeoutMs: number | undefined
  /** Whether the server returns `input_required` instead of sending requests; false while unknown. */
  readonly returnsInputRequests: boolean
  instance(key: string): Instance | undefined
  send(call: UpstreamCall): Promise<UpstreamResult>
}

/** Says when the caller gives a call up: an exchange, or a signal alone. */
export type AbortSource = Pick<Exchange, 'signal' | 'onAbort'>

/**
 * One request of a caller on its way to an upstream server, in one round of input requests, whichever
 * instance gets it and however often it is attempted. A class, because one is made for every call.
 */
export class UpstreamCall implements PooledCall {
  readonly request: IncomingRequest
  readonly route: CallRoute
  /** A middleware may replace the method and the params. */
  method: string
  params: object
  readonly owner: unknown
  readonly ask: InFlightCall['ask']
  readonly onProgress: InFlightCall['onProgress']
  readonly abort: AbortSource
  /** How long the caller waits for the result; 0 means no limit. */
  readonly timeoutMs: number
  /** How long the call was queued at a limit: a part of `timeoutMs`. */
  queuedMs = 0
  /** The only instance that can take the call, because it sent the input request that is answered. */
  readonly pinned: Instance | undefined
  /** The key that an instance is chosen by, where that is by a hash. */
  hashKey: string | undefined
  /** Whether members of the result may stay raw JSON; not if a middleware looks at them. */
  acceptsRaw: boolean
  /** Whether the server may run the call as a task. */
  takesTask: boolean
  /** Whether the server is asked to run the call as a task. */
  readonly asTask: boolean
  /** The call as subscribers observe it; undefined without subscribers. */
  readonly span: CallSpan | undefined
  /** Set while the call may outlive the request: its server requests are answered by later ones. */
  readonly parked: ParkedCall<UpstreamResult> | undefined
  list: InFlightList | undefined
  previous: InFlightCall | undefined
  following: InFlightCall | undefined
  readonly #senders: SenderMetaCache
  readonly #replaced: Members
  readonly #annotations: ToolAnnotations | undefined

  /**
   * `replaced` are members of the params that differ for the server, such as the name of a tool;
   * `annotations` is what the server says of the tool, where it is trusted. `at` is the key of the only
   * instance that can take the call, and `retry` are the params that answer its input requests.
   */
  constructor(
    senders: SenderMetaCache,
    request: IncomingRequest,
    route: CallRoute,
    replaced: Members,
    span?: CallSpan,
    annotations?: ToolAnnotations,
    asTask = false,
    at?: string,
    retry?: Members,
    parked?: ParkedCall<UpstreamResult>,
  ) {
    const { method, params, caller, exchange } = request
    this.request = request
    this.route = route
    this.method = method
    this.params = forwardedParams(params, replaced, retry, asTask)
    this.owner = parked ?? this.session ?? request
    this.ask = this.mayRequestInput && takesServerRequests(caller.capabilities) ? ask : undefined
    this.onProgress = readProgressToken(params) === undefined ? undefined : reportProgress
    this.abort = parked?.stop ?? exchange
    this.timeoutMs = timeoutFor(request, route.timeoutMs ?? limits.upstreamCallMs.default)
    this.pinned = at === undefined ? undefined : route.instance(at)
    // A parked call may be answered to another request than this one.
    this.acceptsRaw = parked === undefined && acceptsRawResult(request)
    this.takesTask = request.task !== undefined
    this.asTask = asTask
    this.span = span
    this.parked = parked
    this.#senders = senders
    this.#replaced = replaced
    this.#annotations = annotations
  }

  get caller(): Caller {
    return this.request.caller
  }

  /** The session of a session-based caller; undefined for a stateless one. */
  get session(): ServerSession | undefined {
    const { caller, session } = this.request
    return caller.revision.features.sessions ? session : undefined
  }

  /** The upstream name of the tool that is called. */
  get tool(): string | undefined {
    const { name } = this.#replaced
    return typeof name === 'string' && this.request.method === 'tools/call' ? name : undefined
  }

  /** The headers of the caller's request, if it came over HTTP. */
  get headers(): Readonly<Record<string, string>> | undefined {
    return this.request.exchange.envelope.headers
  }

  /** What a server of this process gets to know about the caller, beside the request. */
  get envelope(): Envelope {
    const { caller, exchange } = this.request
    const { env } = exchange.envelope
    const headers = headersOf(this.request)
    return { principal: caller.principal, headers, env, isOfCaller: true }
  }

  /** The lowest level of log messages that the caller has requested. */
  get logLevel(): LogLevel | undefined {
    const { caller, session } = this.request
    const isOfSession = caller.revision.features.logLevel === 'session'
    return isOfSession ? session?.logLevel : caller.logLevel
  }

  /** Whether sending the call twice is harmless. */
  get safety(): Pick<RetryFacts, 'isReadOnly' | 'isIdempotent'> {
    return safetyOf(this.request.method, this.#annotations)
  }

  /** Whether the server may answer with input requests, or send server requests during the call. */
  get mayRequestInput(): boolean {
    return methodRow(this.request.method)?.mayRequestInput === true
  }

  /** The request of the caller that waits for the result now: that of a parked call changes. */
  get current(): IncomingRequest {
    return this.parked?.request ?? this.request
  }

  /** Returns the members of `_meta` that describe the caller to a stateless server. */
  sender(revision: Revision): object {
    return this.#senders.for(this.request.caller, this.logLevel, revision, this.takesTask)
  }

  /** Returns the call for another round: at one instance, with answers, or parked. */
  round(at?: string, retry?: Members, parked?: ParkedCall<UpstreamResult>): UpstreamCall {
    return new UpstreamCall(
      this.#senders,
      this.request,
      this.route,
      this.#replaced,
      this.span,
      this.#annotations,
      this.asTask,
      at,
      retry,
      parked,
    )
  }

  /** Delivers a log message of the call to the caller, if the caller has requested messages of its level. */
  onLog({ level, logger, data }: Members): void {
    const { exchange, caller } = this.current
    if (!isLogLevel(level) || !hasRequestedLog(this.current, level)) return
    if (caller.revision.features.logLevel === 'request' && exchange.settled === true) return
    const _meta = { [serverKey]: this.route.name }
    send(exchange.notify('notifications/message', { level, logger, data: data ?? null, _meta }))
  }
}

/** Functions with `this`, not closures: one of them would be made for every call. */
function reportProgress(this: UpstreamCall, { progress, total, message }: Progress): void {
  const { params, exchange, caller } = this.current
  const progressToken = readProgressToken(params)
  if (progressToken === undefined || exchange.settled === true) return
  publishProgress(this.span, { progress, total, message })
  const text = caller.revision.features.progressMessages ? message : undefined
  send(exchange.notify('notifications/progress', { progressToken, progress, total, message: text }))
}

/** Sends a server request to the caller: at once, or, if the call is parked, with its next response. */
async function ask(this: UpstreamCall, input: InputRequest, signal: AbortSignal): Promise<unknown> {
  const { current, parked, route } = this
  publishServerRequest(route.name, input.method, this.span)
  // Throws if the caller cannot be sent this request, before it is shown anything.
  const { request, accept } = prepareInputRequest(current.caller, fromServer(input, route.name))
  if (parked !== undefined) return accept(await parked.ask(request, signal), request.method)
  const key = `${input.method} ${crypto.randomUUID()}`
  const { exchange } = current
  const { envelope, back } = exchange
  const asked: IncomingRequest = {
    ...current,
    exchange: {
      envelope,
      back,
      // The answer is of no use once the caller has given up the call, or the server its request.
      signal: AbortSignal.any([signal, exchange.signal]),
      notify: (method, params) => exchange.notify(method, params),
    },
  }
  return accept(await callClient(asked, request, key), key)
}

/** Ignores that a notification could not be sent: the caller is gone. */
function send(sent: void | Promise<void>): void {
  if (sent !== undefined) sent.then(undefined, () => {})
}
