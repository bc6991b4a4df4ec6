import { type DecodeRules, decodeRules, withMaxBytes } from '../../jsonrpc/codec/decode-rules.ts'
import type { RpcRequest } from '../../jsonrpc/message.ts'
import { IdTable } from '../../jsonrpc/peer/id-table.ts'
import type { Authenticator } from '../../mcp/authenticator.ts'
import { type Endpoint, endpointDecodeOptions } from '../../mcp/endpoint.ts'
import { omitsUnreadableId, type Profile } from '../../mcp/profile.ts'
import {
  type Revision,
  revisionNamed,
  revisionsOf,
  withoutHeader,
} from '../../mcp/revisions/revisions.ts'
import { limits } from '../../util/limits/limits.ts'
import { defined } from '../../util/objects.ts'
import type { HttpHandler, HttpReply, HttpRequest } from '../exchange.ts'
import { webSocketWire, wireHeader } from '../header-fields.ts'
import { type Accepts, acceptsOf } from './accept.ts'
import { AuthGate, unauthorized } from './auth-gate.ts'
import { classify, type Destination } from './classify.ts'
import { corsHeaders, preflightHeaders } from './cors.ts'
import { bodyGuard, OriginGuard, versionProblem } from './guard.ts'
import { HttpSseEndpoints } from './http-sse/endpoints.ts'
import { InFlight } from './in-flight.ts'
import type { HttpListenerOptions } from './options.ts'
import {
  decodeBody,
  malformedBody,
  noSessions,
  nothingServed,
  overloaded,
  refusal,
  refuse,
  refuseAuth,
  withBody,
  withHeaders,
} from './responses.ts'
import type { HttpSession } from './sessions/session.ts'
import { Sessions } from './sessions/sessions.ts'
import { OpenStreams } from './sse-keep-alive.ts'
import { type OpenRequest, type StatelessHost, serveStateless } from './stateless.ts'

/** Serves an endpoint over HTTP, whatever server the requests come from. */
export class HttpService implements HttpHandler {
  readonly #options: HttpListenerOptions
  readonly #auth: Authenticator | undefined
  readonly #gate: AuthGate | undefined
  readonly #rules: DecodeRules
  /** The names of the stateless revisions that are served. */
  readonly #stateless: ReadonlySet<string>
  /** The revisions that are served, of both eras. */
  readonly #revisions: readonly Revision[]
  readonly #hasSessions: boolean
  readonly #streams: OpenStreams
  readonly #sessions: Sessions
  readonly #httpSse: HttpSseEndpoints | undefined
  readonly #inFlight: InFlight
  readonly #guard: OriginGuard
  readonly #profile: Profile
  readonly #open = new IdTable<OpenRequest>()
  readonly #longLived = new Set<OpenRequest>()
  /** What the stateless requests of this service share. */
  readonly #posts: StatelessHost
  #isDraining = false
  #isClosed = false

  constructor(endpoint: Endpoint, options: HttpListenerOptions = {}) {
    this.#options = options
    this.#auth = options.auth
    this.#profile = endpoint.profile
    const decode = { ...endpointDecodeOptions(endpoint), ...defined(options.decode) }
    this.#rules = decodeRules(withMaxBytes(decode, 'http', limits.callerMessageBytes.default))
    const stateless = revisionsOf('stateless', endpoint.revisions)
    this.#stateless = new Set(stateless.map(({ name }) => name))
    this.#revisions = endpoint.revisions
    this.#hasSessions = stateless.length < endpoint.revisions.length
    this.#streams = new OpenStreams(options.keepAliveMs)
    this.#sessions = new Sessions(endpoint, options.sessions, this.#streams, options.auth)
    if (options.sse && this.#hasSessions)
      this.#httpSse = new HttpSseEndpoints(endpoint, options.sse, {
        ...options.sessions,
        streams: this.#streams,
        auth: options.auth,
        path: options.path,
      })
    this.#inFlight = new InFlight(options.maxInFlight ?? limits.httpInFlight.default)
    this.#guard = new OriginGuard(options)
    this.#posts = {
      endpoint,
      streams: this.#streams,
      open: this.#open,
      lastNumber: 0,
      longLived: this.#longLived,
      onError: error => options.onError?.(error),
      onSettled: () => this.#inFlight.leave(),
      auth: options.auth,
    }
    const { path } = options
    this.#gate =
      options.auth &&
      new AuthGate(options.auth, {
        path: path ?? '/',
        serves: request =>
          path === undefined || request.path === path || this.#httpSse?.handles(request) === true,
        route: (request, reply) => this.handleAuthenticated(request, reply),
      })
  }

  /** Serves one request. Never throws. */
  handle(request: HttpRequest, reply: HttpReply): void {
    try {
      this.#handle(request, reply)
    } catch (error) {
      this.#failed(reply, error)
    }
  }

  /** Whether this process has the session with this id. */
  hasSession(id: string): boolean {
    return this.#sessions.has(id)
  }

  /**
   * Serves a request of a session of this process that another listener has accepted: it has checked the origin, and
   * `request.principal` is the authenticated caller. Never throws.
   */
  handleAuthenticated(request: HttpRequest, reply: HttpReply): void {
    try {
      if (this.#isClosed) refuse(reply, refusal(503, -32000, 'The server is closing'), closing)
      else this.#route(request, reply)
    } catch (error) {
      this.#failed(reply, error)
    }
  }

  #failed(reply: HttpReply, error: unknown): void {
    this.#options.onError?.(error)
    if (!reply.isFinished) refuse(reply, refusal(500, -32603, 'Internal error'))
  }

  #handle(request: HttpRequest, bare: HttpReply): void {
    const foreign = this.#guard.problem(request)
    if (foreign !== undefined) {
      refuse(bare, refusal(foreign.status, -32000, foreign.why))
      return
    }
    const { cors = {} } = this.#options
    const reply = cors === false ? bare : withHeaders(bare, corsHeaders(request))
    if (this.#isClosed) {
      refuse(reply, refusal(503, -32000, 'The server is closing'), closing)
    } else if (request.method === 'OPTIONS' && cors !== false) {
      reply.send(204, preflightHeaders(request, cors))
    } else if (this.#gate === undefined) {
      this.#route(request, reply)
    } else {
      this.#gate.enter(request, reply)
    }
  }

  #route(request: HttpRequest, reply: HttpReply): void {
    const { path } = this.#options
    if (this.#httpSse?.handles(request)) {
      this.#httpSse.handle(request, reply, this.#rules)
    } else if (path !== undefined && request.path !== path) {
      refuse(reply, nothingServed(request, path))
    } else if (request.method === 'POST') {
      this.#post(request, reply)
    } else if (this.#hasSessions && request.method === 'GET') {
      this.#withSession(request, reply, session => session.listen(request, reply))
    } else if (this.#hasSessions && request.method === 'DELETE') {
      this.#withSession(request, reply, session => session.delete(reply))
    } else {
      const allow = this.#hasSessions ? 'GET, POST, DELETE' : 'POST'
      refuse(reply, refusal(405, -32000, 'Method not allowed'), { allow })
    }
  }

  async drain(options: { readonly drainMs?: number } = {}): Promise<void> {
    const { drainMs = limits.drainMs.default } = options
    this.#isDraining = true
    this.#endLongLived()
    const inTime = await Promise.all([
      this.#inFlight.drained(drainMs),
      this.#sessions.close({ drainMs }),
      this.#httpSse?.close({ drainMs }),
    ])
    if (!inTime[0]) this.#isClosed = true
    for (const post of this.#open.values()) post.abort()
    this.#streams.end()
  }

  async close(options: { readonly drainMs?: number } = {}): Promise<void> {
    await this.drain(options)
    this.#isClosed = true
  }

  /** Ends the requests that would go on until the client ends them. */
  #endLongLived(): void {
    for (const post of [...this.#longLived]) post.end()
  }

  #post(request: HttpRequest, reply: HttpReply): void {
    const unreadable = bodyGuard(request)
    const accepts = acceptsOf(request.header('accept'))
    if (unreadable !== undefined) {
      refuse(reply, refusal(unreadable.status, -32000, unreadable.why))
    } else if (!accepts.json && !accepts.events) {
      const why = 'Not acceptable: the response is application/json or text/event-stream'
      refuse(reply, refusal(406, -32000, why))
    } else if (this.#inFlight.isFull(this.#longLived.size)) {
      refuse(reply, refusal(503, -32000, 'Server overloaded'), overloaded)
    } else {
      withBody(request, reply, this.#rules.maxBytes, bytes =>
        this.#arrived(bytes, request, reply, accepts),
      )
    }
  }

  #arrived(
    bytes: Uint8Array | undefined,
    request: HttpRequest,
    reply: HttpReply,
    accepts: Accepts,
  ): void {
    if (bytes !== undefined && this.#isRemote(request)) {
      this.#serveRemote(request, reply, bytes)
      return
    }
    const arrival = decodeBody(bytes, this.#rules, request.metaCache)
    if (arrival.type === 'invalid') {
      const version = request.header('mcp-protocol-version')?.trim()
      const revision = version === undefined ? withoutHeader : revisionNamed(version)
      refuse(reply, {
        ...malformedBody(arrival),
        omitsId: omitsUnreadableId(this.#profile, revision),
      })
      return
    }
    const denied = this.#auth && unauthorized(this.#auth, arrival, request)
    if (denied !== undefined) {
      refuseAuth(reply, denied, arrival.type === 'request' ? arrival.id : null)
      return
    }
    const destination = classify(arrival, request, this.#revisions)
    if (!this.#hasSessions && sessionDestinations.has(destination.to)) {
      refuse(reply, noSessions(arrival, this.#stateless))
      return
    }
    switch (destination.to) {
      case 'stateless':
        this.#serveStateless(destination, request, reply, accepts, bytes?.length)
        break
      case 'initialize':
        this.#sessions.begin(destination.message, request, reply, accepts)
        break
      case 'session':
        this.#inSession(destination, request, reply, accepts, bytes?.length)
        break
      case 'sessionless':
        this.#withoutSession(destination.message, destination.revision, request, reply, accepts)
        break
      case 'ignored':
        reply.send(202, {})
        break
      case 'refused':
        refuse(reply, destination)
    }
  }

  #serveStateless(
    { message, caller }: Extract<Destination, { to: 'stateless' }>,
    request: HttpRequest,
    reply: HttpReply,
    accepts: Accepts,
    bytes: number | undefined,
  ): void {
    this.#inFlight.enter()
    // The request serves as its own envelope: not every binding has its headers at hand, and few
    // tools read them.
    const target =
      message.method === 'server/discover' ? this.#withWebSocketHeader(request, reply) : reply
    serveStateless({ message, request, reply: target, accepts, caller, bytes }, this.#posts)
    if (this.#isDraining) this.#endLongLived()
  }

  /** Adds the header that confirms WebSockets, if the client has asked for it. */
  #withWebSocketHeader(request: HttpRequest, reply: HttpReply): HttpReply {
    if (this.#options.hasWebSockets !== true) return reply
    if (request.header(wireHeader) !== webSocketWire) return reply
    return withHeaders(reply, { [wireHeader]: webSocketWire })
  }

  #inSession(
    { arrival, id }: Extract<Destination, { to: 'session' }>,
    request: HttpRequest,
    reply: HttpReply,
    accepts: Accepts,
    bytes: number | undefined,
  ): void {
    const session = this.#sessions.find(id, request.principal)
    if (session === undefined) {
      const requestId = arrival.type === 'request' ? arrival.id : null
      refuse(reply, refusal(404, -32001, 'Session not found', requestId))
      return
    }
    const problem = versionProblem(request)
    if (problem === undefined) session.post(arrival, { request, reply, accepts, bytes })
    else refuse(reply, refusal(400, -32000, problem))
  }

  /** Whether a request names a session that another node may have. */
  #isRemote(request: HttpRequest): boolean {
    const { remote } = this.#options
    const id = remote && request.header('mcp-session-id')
    if (remote === undefined || id === undefined) return false
    if (this.#sessions.has(id)) return !remote.mayServe(id)
    const version = request.header('mcp-protocol-version')?.trim()
    return version === undefined || !this.#stateless.has(version)
  }

  #serveRemote(request: HttpRequest, reply: HttpReply, body?: Uint8Array): void {
    const isCounted = request.method !== 'GET'
    if (isCounted) this.#inFlight.enter()
    const onSettled = (): void => {
      if (isCounted) this.#inFlight.leave()
    }
    const id = request.header('mcp-session-id') ?? ''
    this.#options.remote?.serve(id, { request, reply, body, onSettled })
  }

  #withoutSession(
    message: RpcRequest,
    revision: string,
    request: HttpRequest,
    reply: HttpReply,
    accepts: Accepts,
  ): void {
    if (this.#options.sessionless === true) {
      this.#inFlight.enter()
      const onSettled = () => this.#inFlight.leave()
      this.#sessions.serveSessionless({ message, revision, request, reply, accepts, onSettled })
      return
    }
    const why = 'Bad request: send initialize first, then the header Mcp-Session-Id'
    refuse(reply, refusal(400, -32000, why, message.id))
  }

  #withSession(request: HttpRequest, reply: HttpReply, then: (session: HttpSession) => void): void {
    const id = request.header('mcp-session-id')
    const session = id === undefined ? undefined : this.#sessions.find(id, request.principal)
    if (request.method === 'GET' && !acceptsOf(request.header('accept')).events) {
      refuse(reply, refusal(406, -32000, 'Not acceptable: the response is text/event-stream'))
    } else if (id === undefined) {
      refuse(reply, refusal(400, -32000, 'Bad request: the header Mcp-Session-Id is missing'))
    } else if (this.#isRemote(request)) {
      this.#serveRemote(request, reply)
    } else if (session === undefined) {
      refuse(reply, refusal(404, -32001, 'Session not found'))
    } else {
      const problem = versionProblem(request)
      if (problem === undefined) then(session)
      else refuse(reply, refusal(400, -32000, problem))
    }
  }
}

/** The destinations that do not exist without sessions. */
const sessionDestinations: ReadonlySet<Destination['to']> = new Set([
  'initialize',
  'session',
  'sessionless',
])

const closing = { connection: 'close', 'retry-after': '1' }
