import type { DecodeRules } from '../../../jsonrpc/codec/decode-rules.ts'
import type { Endpoint } from '../../../mcp/endpoint.ts'
import { randomHex } from '../../../util/random.ts'
import type { HttpReply, HttpRequest } from '../../exchange.ts'
import { acceptsOf } from '../accept.ts'
import { malformedBody, messageIn } from '../body.ts'
import { bodyGuard } from '../guard.ts'
import { refusal, refuse } from '../responses.ts'
import { SessionTable } from '../sessions/session-table.ts'
import type { SessionsOptions } from '../sessions/sessions.ts'
import { SseSession } from './session.ts'

/** The two addresses of revision 2024-11-05. */
export interface SsePaths {
  /** Where a client opens its event stream, such as `/sse`. */
  readonly events: string
  /** Where it sends its messages, such as `/messages`. */
  readonly messages: string
}

/**
 * The pair of endpoints of revision 2024-11-05: everything from the server comes as events on one
 * stream, which a client opens first and is told there where to send its messages. The session lasts as
 * long as that stream.
 */
export class SsePair {
  readonly #endpoint: Endpoint
  readonly #paths: SsePaths
  readonly #makeId: () => string
  readonly #table: SessionTable<SseSession>
  #isClosing = false

  constructor(endpoint: Endpoint, paths: SsePaths, options: SessionsOptions = {}) {
    this.#endpoint = endpoint
    this.#paths = paths
    this.#makeId = options.makeId ?? (() => randomHex(24))
    this.#table = new SessionTable(options, options.clock)
  }

  get size(): number {
    return this.#table.size
  }

  /**
   * Whether a request belongs here. One to the same addresses that names a session of a later revision,
   * or none at all, does not.
   */
  handles(request: HttpRequest): boolean {
    const { method, path } = request
    if (method === 'POST') return path === this.#paths.messages && sessionIdOf(request) !== null
    const isOfLater = request.header('mcp-session-id') !== undefined
    return method === 'GET' && path === this.#paths.events && !isOfLater
  }

  /** Answers a request that belongs here; `rules` say how its body is read. */
  handle(request: HttpRequest, reply: HttpReply, rules: DecodeRules): void {
    if (request.method === 'POST') this.#post(request, reply, rules)
    else this.#open(request, reply)
  }

  /** Ends every session: requests are answered within `drainMs`. Idempotent; never rejects. */
  async close(options: { readonly drainMs?: number } = {}): Promise<void> {
    this.#isClosing = true
    await this.#table.endAll(options)
  }

  #open(request: HttpRequest, reply: HttpReply): void {
    const { principal } = request
    if (!acceptsOf(request.header('accept')).events) {
      const message = 'Not acceptable: the answer is text/event-stream'
      refuse(reply, refusal(406, -32000, message))
    } else if (this.#isClosing || !this.#table.makeRoom(principal)) {
      const message = this.#isClosing ? 'Shutting down' : 'Too many sessions'
      refuse(reply, refusal(503, -32000, message), { 'retry-after': '5' })
    } else if (!reply.isOver) {
      const session = new SseSession(this.#makeId(), principal, gone => this.#table.remove(gone))
      this.#table.add(session)
      session.begin(this.#endpoint, reply, this.#paths.messages)
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
      this.#table.heard(session)
      request.body(rules.maxBytes, bytes => {
        const arrival = messageIn(bytes, rules)
        if (arrival.type === 'invalid') refuse(reply, malformedBody(arrival))
        else session.receive(arrival, request, reply)
      })
    }
  }
}

const member = 'sessionId'

function sessionIdOf(request: HttpRequest): string | null {
  const { target } = request.asked()
  const query = target.indexOf('?')
  return query < 0 ? null : new URLSearchParams(target.slice(query)).get(member)
}
