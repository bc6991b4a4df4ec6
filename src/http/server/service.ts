import {
  type DecodeOptions,
  type DecodeRules,
  decodeRules,
  withMaxBytes,
} from '../../jsonrpc/codec/decode-rules.ts'
import type { Batch, Message, RpcRequest } from '../../jsonrpc/message.ts'
import { IdTable } from '../../jsonrpc/peer/id-table.ts'
import type { Endpoint } from '../../mcp/endpoint.ts'
import { readingFor } from '../../mcp/profile-options.ts'
import { revisionNamed } from '../../mcp/revisions/revisions.ts'
import { defined } from '../../util/defined.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Gate } from '../../util/origin.ts'
import type { HttpHandler, HttpReply, HttpRequest } from '../exchange.ts'
import { wireHeader, wireOffer } from '../wire-offer.ts'
import { type Accepts, acceptsOf } from './accept.ts'
import { malformedBody, messageIn } from './body.ts'
import { classify, type Destination } from './classify.ts'
import { type CorsOptions, corsHeaders, preflightHeaders } from './cors.ts'
import { bodyGuard, OriginGuard } from './guard.ts'
import { SsePair, type SsePaths } from './http-sse/endpoints.ts'
import { InFlight } from './in-flight.ts'
import { type Refusal, refusal, refuse } from './responses.ts'
import type { HttpSession } from './sessions/session.ts'
import { Sessions, type SessionsOptions } from './sessions/sessions.ts'
import { noHeaders, OpenStreams } from './sse-keep-alive.ts'
import { answerPost, type OpenPost, type PostHost } from './stateless.ts'

/** How a service over HTTP behaves. */
export interface HttpOptions extends Pick<Gate, 'allowedHosts' | 'allowedOrigins'> {
  /** The one path it answers on, such as `/mcp`; any path unless said. */
  readonly path?: string
  readonly decode?: DecodeOptions
  /** Requests answered at once; further ones are told to come again. */
  readonly maxInFlight?: number
  /** Silence after which an event stream is kept open by a comment. */
  readonly keepAliveMs?: number
  /** What pages of allowed origins may do; `false` lets no page read anything. */
  readonly cors?: CorsOptions | false
  readonly sessions?: SessionsOptions
  /** Whether requests of the session revisions are answered even if they belong to no session. */
  readonly sessionless?: boolean
  /** The two addresses of the oldest revision; `false` leaves them out. */
  readonly sse?: SsePaths | false
  /** Told what went wrong inside and no client is told. */
  readonly onError?: (error: unknown) => void
}

/** What only a listener knows of a service, because it is the listener's own doing. */
export interface HttpListenerOptions extends HttpOptions {
  /** Whether WebSockets are opened on the same path; clients that ask are told so. */
  readonly hasWebSockets?: boolean
}

/** An endpoint over HTTP, whatever server the requests come from. */
export class HttpService implements HttpHandler {
  readonly #options: HttpListenerOptions
  readonly #rules: DecodeRules
  /** The names of the revisions without sessions that are served. */
  readonly #stateless: ReadonlySet<string>
  readonly #hasSessions: boolean
  readonly #streams: OpenStreams
  readonly #sessions: Sessions
  readonly #pair: SsePair | undefined
  readonly #inFlight: InFlight
  readonly #guard: OriginGuard
  readonly #open = new IdTable<OpenPost>()
  readonly #lasting = new Set<OpenPost>()
  /** What the answers to requests without sessions have in common. */
  readonly #posts: PostHost
  #isClosing = false

  constructor(endpoint: Endpoint, options: HttpListenerOptions = {}) {
    this.#options = options
    const decode = { ...readingFor(endpoint), ...defined(options.decode) }
    this.#rules = decodeRules(withMaxBytes(decode, limits.httpMessageBytes.default))
    const stateless = endpoint.revisions.filter(({ era }) => era === 'stateless')
    this.#stateless = new Set(stateless.map(({ name }) => name))
    this.#hasSessions = stateless.length < endpoint.revisions.length
    this.#streams = new OpenStreams(options.keepAliveMs)
    this.#sessions = new Sessions(endpoint, options.sessions)
    if (options.sse && this.#hasSessions)
      this.#pair = new SsePair(endpoint, options.sse, options.sessions)
    this.#inFlight = new InFlight(options.maxInFlight ?? limits.httpInFlight.default)
    this.#guard = new OriginGuard(options)
    this.#posts = {
      endpoint,
      open: this.#open,
      opened: 0,
      lasting: this.#lasting,
      onError: error => options.onError?.(error),
      onSettled: () => this.#inFlight.leave(),
    }
  }

  /** Answers one request. Never throws. */
  handle(request: HttpRequest, answer: HttpReply): void {
    try {
      this.#handle(request, answer)
    } catch (error) {
      this.#options.onError?.(error)
      if (!answer.isOver) refuse(answer, refusal(500, -32603, 'Internal error'))
    }
  }

  #handle(request: HttpRequest, answer: HttpReply): void {
    const foreign = this.#guard.problem(request)
    if (foreign !== undefined) {
      refuse(answer, refusal(foreign.status, -32000, foreign.why))
      return
    }
    const { cors = {}, path } = this.#options
    const reply = this.#streams.kept(answer, cors === false ? noHeaders : corsHeaders(request))
    // What belongs to a session goes on: somebody may be waiting for just this answer of its client.
    if (this.#isClosing && request.header('mcp-session-id') === undefined) {
      refuse(reply, refusal(503, -32000, 'The server is closing'), closing)
    } else if (request.method === 'OPTIONS' && cors !== false) {
      reply.send(204, preflightHeaders(request, cors))
    } else if (this.#pair?.handles(request)) {
      this.#pair.handle(request, reply, this.#rules)
    } else if (path !== undefined && request.path !== path) {
      refuse(reply, refusal(404, -32000, 'There is nothing at this path'))
    } else if (request.method === 'POST') {
      this.#post(request, reply)
    } else if (this.#hasSessions && request.method === 'GET') {
      this.#ofSession(request, reply, session => session.listen(request, reply))
    } else if (this.#hasSessions && request.method === 'DELETE') {
      this.#ofSession(request, reply, session => {
        void session.end()
        reply.send(204, {})
      })
    } else {
      const allow = this.#hasSessions ? 'GET, POST, DELETE' : 'POST'
      refuse(reply, refusal(405, -32000, 'Method not allowed'), { allow })
    }
  }

  /** Takes nothing more, answers what is in flight and ends every stream and session. */
  async close(options: { readonly drainMs?: number } = {}): Promise<void> {
    const { drainMs = limits.drainMs.default } = options
    this.#isClosing = true
    for (const post of this.#open.values()) post.end()
    await Promise.all([
      this.#sessions.close({ drainMs }),
      this.#pair?.close({ drainMs }),
      this.#inFlight.drained(drainMs),
    ])
    for (const post of this.#open.values()) post.giveUp()
    this.#streams.end()
  }

  #post(request: HttpRequest, reply: HttpReply): void {
    const unreadable = bodyGuard(request)
    const accepts = acceptsOf(request.header('accept'))
    if (unreadable !== undefined) {
      refuse(reply, refusal(unreadable.status, -32000, unreadable.why))
    } else if (!accepts.json && !accepts.events) {
      const why = 'Not acceptable: the answer is application/json or text/event-stream'
      refuse(reply, refusal(406, -32000, why))
    } else if (this.#inFlight.isFull(this.#lasting.size)) {
      refuse(reply, refusal(503, -32000, 'Server overloaded'), { 'retry-after': '1' })
    } else {
      request.body(this.#rules.maxBytes, bytes => this.#arrived(bytes, request, reply, accepts))
    }
  }

  #arrived(
    bytes: Uint8Array | undefined,
    request: HttpRequest,
    reply: HttpReply,
    accepts: Accepts,
  ): void {
    const arrival = messageIn(bytes, this.#rules, request.repeats)
    if (arrival.type === 'invalid') {
      refuse(reply, malformedBody(arrival))
      return
    }
    const destination = classify(arrival, request, this.#stateless)
    if (!this.#hasSessions && ofSessions.has(destination.to)) {
      refuse(reply, this.#noSessions(arrival))
      return
    }
    switch (destination.to) {
      case 'stateless':
        this.#answer(destination.message, request, reply, accepts)
        break
      case 'initialize':
        this.#sessions.begin(destination.message, request, reply, accepts)
        break
      case 'session':
        this.#inSession(destination.arrival, destination.id, request, reply, accepts)
        break
      case 'sessionless':
        this.#withoutSession(destination.message, destination.revision, request, reply, accepts)
        break
      case 'nowhere':
        reply.send(202, {})
        break
      case 'refused':
        refuse(reply, destination)
    }
  }

  /** Tells a client of sessions what is spoken here instead; it cannot find that out by itself. */
  #noSessions(arrival: Message | Batch): Refusal {
    const supported = [...this.#stateless]
    const why = 'the header MCP-Protocol-Version is missing or names a revision with sessions'
    const words = `Header mismatch: ${why}; this server speaks ${supported.join(', ')}`
    const id = arrival.type === 'request' ? arrival.id : null
    return refusal(400, -32020, words, id, { supported })
  }

  #answer(message: RpcRequest, request: HttpRequest, reply: HttpReply, accepts: Accepts): void {
    this.#inFlight.enter()
    // The request travels as its own envelope: not every binding has its headers at hand, and few tools ask.
    const way = message.method === 'server/discover' ? this.#offering(request, reply) : reply
    answerPost(message, request, way, accepts, this.#posts)
  }

  /** The way back to a client that may have asked whether WebSockets are taken here. */
  #offering(request: HttpRequest, reply: HttpReply): HttpReply {
    if (this.#options.hasWebSockets !== true) return reply
    if (request.header(wireHeader) !== wireOffer) return reply
    return this.#streams.kept(reply, { [wireHeader]: wireOffer })
  }

  #inSession(
    arrival: Message | Batch,
    id: string,
    request: HttpRequest,
    reply: HttpReply,
    accepts: Accepts,
  ): void {
    const session = this.#sessions.find(id, request.principal)
    if (session === undefined) {
      const requestId = arrival.type === 'request' ? arrival.id : null
      refuse(reply, refusal(404, -32001, 'Session not found', requestId))
      return
    }
    const problem = versionProblem(request)
    if (problem === undefined) session.post(arrival, request, reply, accepts)
    else refuse(reply, refusal(400, -32000, problem))
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
      this.#sessions.once({ message, revision, request, reply, accepts, onSettled })
      return
    }
    const why = 'Bad request: send initialize first, then the header Mcp-Session-Id'
    refuse(reply, refusal(400, -32000, why, message.id))
  }

  #ofSession(request: HttpRequest, reply: HttpReply, then: (session: HttpSession) => void): void {
    const id = request.header('mcp-session-id')
    const session = id === undefined ? undefined : this.#sessions.find(id, request.principal)
    if (request.method === 'GET' && !acceptsOf(request.header('accept')).events) {
      refuse(reply, refusal(406, -32000, 'Not acceptable: the answer is text/event-stream'))
    } else if (id === undefined) {
      refuse(reply, refusal(400, -32000, 'Bad request: the header Mcp-Session-Id is missing'))
    } else if (session === undefined) {
      refuse(reply, refusal(404, -32001, 'Session not found'))
    } else {
      const problem = versionProblem(request)
      if (problem === undefined) then(session)
      else refuse(reply, refusal(400, -32000, problem))
    }
  }
}

/** Where nothing goes when there are no sessions. */
const ofSessions: ReadonlySet<Destination['to']> = new Set(['initialize', 'session', 'sessionless'])

const closing = { connection: 'close', 'retry-after': '1' }

/** What is wrong with the revision that a request of a session names, in words. */
function versionProblem(request: HttpRequest): string | undefined {
  const version = request.header('mcp-protocol-version')?.trim()
  if (version === undefined || revisionNamed(version)?.era === 'session') return undefined
  return `Bad request: unsupported protocol version ${version}`
}
