import type { DecodeRules } from '../../../jsonrpc/codec/decode-rules.ts'
import type { Authenticator } from '../../../mcp/authenticator.ts'
import type { Endpoint } from '../../../mcp/endpoint.ts'
import { randomHex } from '../../../util/random.ts'
import type { HttpReply, HttpRequest } from '../../exchange.ts'
import { acceptsOf } from '../accept.ts'
import { unauthorized } from '../auth-gate.ts'
import { bodyGuard } from '../guard.ts'
import { decodeBody, malformedBody, refusal, refuse, refuseAuth, withBody } from '../responses.ts'
import { SessionTable } from '../sessions/session-table.ts'
import type { SessionsOptions } from '../sessions/sessions.ts'
import { OpenStreams } from '../sse-keep-alive.ts'
import { HttpSseSession } from './session.ts'

/** The two paths of the HTTP+SSE transport of revision 2024-11-05. */
export interface SsePaths {
  /** The path where a client opens its event stream, such as `/sse`. */
  readonly events: string
  /** The path where a client posts its messages, such as `/messages`. */
  readonly messages: string
}

/** What the transport shares with the service that it belongs to, besides the limits of sessions. */
export interface HttpSseOptions extends SessionsOptions {
  readonly streams?: OpenStreams
  /** Decides which messages a caller may send; undefined without authentication. */
  readonly auth?: Authenticator | undefined
  /** The path of the other transport, which may be one of this transport too. */
  readonly path?: string | undefined
}

/**
 * The two endpoints of the HTTP+SSE transport of revision 2024-11-05. A client first opens the event
 * stream, whose first event names the URL for its messages. Everything from the server is sent on that
 * stream, and the session lasts as long as the stream.
 */
export class HttpSseEndpoints {
  readonly #endpoint: Endpoint
  readonly #paths: SsePaths
  readonly #streams: OpenStreams
  readonly #auth: Authenticator | undefined
  readonly #makeId: () => string
  readonly #table: SessionTable<HttpSseSession>
  #isClosing = false

  constructor(endpoint: Endpoint, paths: SsePaths, options: HttpSseOptions = {}) {
    this.#endpoint = endpoint
    this.#paths = paths
    this.#streams = options.streams ?? new OpenStreams()
    this.#auth = options.auth
    this.#makeId = options.makeId ?? (() => randomHex(24))
    this.#table = new SessionTable(options, options.clock)
    const { events, messages } = paths
    // A client of this transport knows the server by the address of its events.
    if (events !== options.path) options.auth?.addPaths({ [events]: events, [messages]: events })
  }

  get size(): number {
    return this.#table.size
  }

  /**
   * Whether a request belongs to this transport. A request to the same paths that names a session of a
   * later revision, or no session at all, does not.
   */
  handles(request: HttpRequest): boolean {
    const { method, path } = request
    if (method === 'POST') return path === this.#paths.messages && sessionIdOf(request) !== null
    const isOfLater = request.header('mcp-session-id') !== undefined
    return method === 'GET' && path === this.#paths.events && !isOfLater
  }

  /** Serves a request that belongs to this transport. `rules` decide how its body is decoded. */
  handle(request: HttpRequest, reply: HttpReply, rules: DecodeRules): void {
    if (request.method === 'POST') this.#post(request, reply, rules)
    else this.#open(request, reply)
  }

  /**
   * Ends every session after waiting up to `drainMs` for its requests in flight. Idempotent; never
   * rejects.
   */
  async close(options: { readonly drainMs?: number } = {}): Promise<void> {
    this.#isClosing = true
    await this.#table.endAll(options)
  }

  #open(request: HttpRequest, reply: HttpReply): void {
    if (!acceptsOf(request.header('accept')).events) {
      const message = 'Not acceptable: the response is text/event-stream'
      refuse(reply, refusal(406, -32000, message))
    } else if (this.#isClosing || !this.#table.makeRoom(request)) {
      const message = this.#isClosing ? 'Shutting down' : 'Too many sessions'
      refuse(reply, refusal(503, -32000, message), { 'retry-after': '5' })
    } else if (!reply.isFinished) {
      const session = new HttpSseSession(this.#makeId(), request, ended =>
        this.#table.remove(ended),
      )
      this.#table.add(session, request)
      session.begin(this.#endpoint, reply, this.#streams, this.#paths.messages)
    }
  }

  #post(request: HttpRequest, reply: HttpReply, rules: DecodeRules): void {
    const problem = bodyGuard(request)
    const session = this.#table.find(sessionIdOf(request) ?? '', request.principal)
    if (problem !== undefined) {
      refuse(reply, refusal(problem.status, -32000, problem.why))
    } else if (session === undefined) {
      refuse(reply, refusal(404, -32001, 'Session not found'))
    } else {
      this.#table.touch(session)
      withBody(request, reply, rules.maxBytes, bytes => {
        const arrival = decodeBody(bytes, rules)
        if (arrival.type === 'invalid') return refuse(reply, malformedBody(arrival))
        const denied = this.#auth && unauthorized(this.#auth, arrival, request)
        if (denied === undefined) session.receive(arrival, request, reply, bytes?.length)
        else refuseAuth(reply, denied, arrival.type === 'request' ? arrival.id : null)
      })
    }
  }
}

const member = 'sessionId'

function sessionIdOf(request: HttpRequest): string | null {
  const { target } = request.origin()
  const query = target.indexOf('?')
  return query < 0 ? null : new URLSearchParams(target.slice(query)).get(member)
}
