import type { Principal } from '../../../jsonrpc/channel.ts'
import type { RpcRequest } from '../../../jsonrpc/message.ts'
import type { Endpoint } from '../../../mcp/endpoint.ts'
import { limits } from '../../../util/limits/limits.ts'
import { randomHex } from '../../../util/random.ts'
import { housekeeping } from '../../../util/time/background.ts'
import type { Clock } from '../../../util/time/clock.ts'
import type { HttpReply, HttpRequest } from '../../exchange.ts'
import type { Accepts } from '../accept.ts'
import { refusal, refuse } from '../responses.ts'
import { EventLog, type EventLogOptions } from './event-log.ts'
import { HttpSession, type SessionHost } from './session.ts'
import { type SessionLimits, SessionTable } from './session-table.ts'
import { answerOnce, type Sessionless } from './sessionless.ts'

/** How sessions over HTTP behave. */
export interface SessionsOptions extends SessionLimits {
  /** Whether a client that lost a stream may pick it up again; it may unless said. */
  readonly resumable?: boolean
  /** How much is kept for that. */
  readonly events?: EventLogOptions
  /** How long a client is asked to stay away when its stream is closed for the time being. */
  readonly retryMs?: number
  /**
   * Makes the id of a session: visible ASCII, never the same twice, and nothing that could be guessed.
   * 192 random bits unless said.
   */
  readonly makeId?: () => string
  /** For tests. */
  readonly clock?: Clock
}

/** The sessions of one endpoint over HTTP. */
export class Sessions {
  readonly #endpoint: Endpoint
  readonly #makeId: () => string
  readonly #table: SessionTable<HttpSession>
  readonly #host: SessionHost
  #isClosing = false

  constructor(endpoint: Endpoint, options: SessionsOptions = {}) {
    this.#endpoint = endpoint
    this.#makeId = options.makeId ?? sessionId
    const deadlines = housekeeping(options.clock)
    this.#table = new SessionTable(options, options.clock, deadlines)
    this.#host = {
      log: new EventLog(options.events, options.clock, deadlines),
      isResumable: options.resumable ?? true,
      retryMs: options.retryMs ?? limits.streamRetryMs.default,
      onOpened: session => this.#table.opened(session),
      onMoved: session => this.#table.moved(session),
      onEnded: session => this.#table.remove(session),
    }
  }

  get size(): number {
    return this.#table.size
  }

  /** What is kept of events for clients that come back, in bytes, about. */
  get keptBytes(): number {
    return this.#host.log.bytes
  }

  /**
   * Answers an `initialize` that carries no session: opens one and tells its id in the header
   * `mcp-session-id`. One that fails leaves nothing; at the limit it is answered 503.
   */
  begin(message: RpcRequest, request: HttpRequest, reply: HttpReply, accepts: Accepts): void {
    const { principal } = request
    if (this.#isClosing) {
      refuse(reply, refusal(503, -32000, 'Shutting down', message.id), later)
    } else if (this.#table.makeRoom(principal)) {
      const session = new HttpSession(this.#makeId(), principal, this.#host)
      this.#table.add(session)
      try {
        session.begin(this.#endpoint, message, request, reply, accepts)
      } catch (error) {
        // Whatever the endpoint has against it, nothing is left here.
        this.#table.remove(session)
        throw error
      }
    } else {
      refuse(reply, refusal(503, -32000, 'Too many sessions', message.id), later)
    }
  }

  /**
   * The session with this id, if it is this principal's; whether there is one of somebody else is not
   * told. Whoever asks is about to use it.
   */
  find(id: string, principal: Principal | undefined): HttpSession | undefined {
    const session = this.#table.find(id, principal)
    if (session !== undefined) this.#table.heard(session)
    return session
  }

  /**
   * Answers one request of a client without a session, as if it had just initialized with this
   * revision. Nothing of it is left afterwards, and it cannot be asked back.
   */
  once(asked: Sessionless): void {
    answerOnce(this.#endpoint, this.#host.log, asked)
  }

  /**
   * Takes on no more sessions and ends those there are: their requests are answered within `drainMs`,
   * then their streams end. Idempotent; never rejects.
   */
  async close(options: { readonly drainMs?: number } = {}): Promise<void> {
    this.#isClosing = true
    await this.#table.endAll(options)
  }
}

const later = { 'retry-after': '5' }

/** 192 bits, which nobody guesses. */
function sessionId(): string {
  return randomHex(24)
}
