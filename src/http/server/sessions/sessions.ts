import type { Principal } from '../../../jsonrpc/channel.ts'
import { RpcError } from '../../../jsonrpc/error.ts'
import type { RpcRequest } from '../../../jsonrpc/message.ts'
import type { Authenticator } from '../../../mcp/authenticator.ts'
import type { Endpoint } from '../../../mcp/endpoint.ts'
import { limits } from '../../../util/limits/limits.ts'
import { randomHex } from '../../../util/random.ts'
import { type Clock, systemClock } from '../../../util/time/clock.ts'
import { backgroundDeadlines } from '../../../util/time/deadline.ts'
import { withTimeout } from '../../../util/time/sleep.ts'
import type { HttpReply, HttpRequest } from '../../exchange.ts'
import type { Accepts } from '../accept.ts'
import { refusal, refuse } from '../responses.ts'
import { OpenStreams } from '../sse-keep-alive.ts'
import { EventLog, type EventLogOptions } from './event-log.ts'
import { KeptSessions } from './moving/kept-sessions.ts'
import { SessionMoveError } from './moving/session-move-error.ts'
import { readSessionRecord } from './moving/session-record.ts'
import type { MovableSessions, ReleasedSession, SessionStore } from './moving/session-store.ts'
import { latestEpoch, restoredStreams } from './moving/stream-event.ts'
import { HttpSession, type HttpSessionHost } from './session.ts'
import { type SessionLimits, SessionTable } from './session-table.ts'
import { type SessionlessRequest, serveSessionless } from './sessionless.ts'

/** Options of sessions over HTTP. */
export interface SessionsOptions extends SessionLimits {
  /** Whether a client can resume a stream after a disconnect; true by default. */
  readonly resumable?: boolean
  /** How many events are kept for resuming. */
  readonly events?: EventLogOptions
  /**
   * Time in milliseconds after which a client is asked to reconnect when its stream is closed for
   * polling.
   */
  readonly retryMs?: number
  /**
   * Makes the id of a session: visible ASCII, unique, and impossible to guess. By default 192 random
   * bits.
   */
  readonly makeId?: () => string
  /** For tests. */
  readonly clock?: Clock
  /** @internal Keeps sessions for other processes, which can continue them. By default they end with the process. */
  readonly store?: SessionStore
}

/** The sessions of one endpoint over HTTP. */
export class Sessions implements MovableSessions {
  readonly #endpoint: Endpoint
  readonly #makeId: () => string
  readonly #table: SessionTable<HttpSession>
  readonly #host: HttpSessionHost
  readonly #kept: KeptSessions<HttpSession> | undefined
  readonly #clock: Clock
  /** Called when a request of any session has begun or ended, while the sessions are being closed. */
  #onActivity: (() => void) | undefined
  #isClosing = false

  constructor(
    endpoint: Endpoint,
    options: SessionsOptions = {},
    streams: OpenStreams = new OpenStreams(),
    auth?: Authenticator,
  ) {
    this.#endpoint = endpoint
    this.#makeId = options.makeId ?? sessionId
    this.#clock = options.clock ?? systemClock
    const deadlines = backgroundDeadlines(options.clock)
    this.#table = new SessionTable(options, options.clock, deadlines)
    const { store } = options
    const kept = store && new KeptSessions(store, this.#table, deadlines)
    this.#kept = kept
    this.#host = {
      kept,
      log: new EventLog(options.events, options.clock, deadlines),
      streams,
      isResumable: options.resumable ?? true,
      retryMs: options.retryMs ?? limits.streamRetryMs.default,
      auth,
      onInitialized: session => {
        this.#table.initialized(session)
        // The client has its time from the response on.
        return kept?.opened(session)?.then(() => this.#table.initialized(session))
      },
      onActivity: session => {
        this.#table.updateIdle(session)
        this.#onActivity?.()
      },
      onEnded: session => {
        this.#table.remove(session)
        this.#onActivity?.()
        return kept?.ended(session)
      },
    }
    store?.attached?.(this)
  }

  get size(): number {
    return this.#table.size
  }

  /** Approximate size of the events kept for resuming, in bytes. */
  get keptBytes(): number {
    return this.#host.log.bytes
  }

  /**
   * Serves an `initialize` that names no session: opens one and sends its id in the header
   * `mcp-session-id`. If `initialize` fails, no session is left. Responds 503 at the limit.
   */
  begin(message: RpcRequest, request: HttpRequest, reply: HttpReply, accepts: Accepts): void {
    const { principal } = request
    if (this.#isClosing) {
      refuse(reply, refusal(503, -32000, 'Shutting down', message.id), later)
    } else if (this.#table.makeRoom(request)) {
      const session = new HttpSession(this.#makeId(), principal, this.#host)
      this.#table.add(session, request)
      try {
        session.begin(this.#endpoint, message, request, reply, accepts)
      } catch (error) {
        // Whatever error the endpoint throws, no session is left.
        this.#table.remove(session)
        throw error
      }
    } else {
      refuse(reply, refusal(503, -32000, 'Too many sessions', message.id), later)
    }
  }

  /** Whether there is a session with this id, of any principal. */
  has(id: string): boolean {
    return this.#table.has(id)
  }

  /**
   * Returns the session with this id if it belongs to this principal, and records that its client has
   * sent something. The result does not reveal whether another principal has a session with this id.
   */
  find(id: string, principal: Principal | undefined): HttpSession | undefined {
    const session = this.#table.find(id, principal)
    if (session !== undefined) this.#table.touch(session)
    return session
  }

  /**
   * Continues a session of another process. `epoch` must be greater than all before. Throws a SessionMoveError.
   */
  restore(value: unknown, events: Iterable<unknown> = [], epoch?: number): HttpSession {
    const { record: stored, others } = readSessionRecord(value)
    const { id, principal, owner, isMovable } = stored
    const kept = this.#kept
    const streams = restoredStreams(events)
    const before = Math.max(stored.epoch, latestEpoch(streams))
    const record = { ...stored, epoch: epoch ?? before + 1 }
    if (record.epoch <= before) {
      const words = `the epoch ${record.epoch} is not greater than ${before}, the one before`
      throw new SessionMoveError('invalid', words)
    }
    if (kept === undefined || this.#endpoint.attachSession === undefined) {
      throw new SessionMoveError(
        'unsupported',
        'this endpoint keeps no sessions for other processes',
      )
    }
    if (this.#isClosing) throw new SessionMoveError('closing', 'the service is closing')
    if (this.#table.get(id) !== undefined) {
      throw new SessionMoveError('exists', 'this process has the session already')
    }
    if (!isMovable) {
      throw new SessionMoveError('bound', 'the session had a connection of its own in its process')
    }
    if (!this.#table.makeRoom({ principal, owner })) {
      throw new SessionMoveError('full', 'too many sessions')
    }
    const session = new HttpSession(id, principal, this.#host, { record, others })
    this.#table.add(session, { principal, owner })
    kept.add(session)
    try {
      session.resume(this.#endpoint, record, streams)
    } catch (cause) {
      kept.remove(session)
      void session.close()
      throw moveError(cause)
    }
    if (record.state.isReady) this.#table.touch(session)
    kept.changed(session)
    return session
  }

  /**
   * Removes a session from this process, for another one to restore. The standalone stream of its client ends, with
   * the request to reconnect where the client supports that. Running tasks go on: their results are in the task store.
   * Throws a SessionMoveError.
   */
  release(id: string): ReleasedSession {
    const session = this.#table.get(id)
    if (session === undefined || !this.#kept?.has(session)) {
      throw new SessionMoveError('unknown', 'this process has no such session')
    }
    const released = session.snapshot(this.#table.ownerOf(session))
    if (released === undefined) throw new SessionMoveError('unknown', 'the session has not begun')
    this.#leave(session)
    void session.end()
    return released
  }

  /** Removes a session that another process has now. Returns false if there is no such session. */
  drop(id: string): boolean {
    const session = this.#table.get(id)
    if (session === undefined) return false
    this.#leave(session)
    void session.end()
    return true
  }

  /** Leaves a session to the store, which keeps it for another process. */
  #leave(session: HttpSession): void {
    this.#kept?.remove(session)
    session.poll()
  }

  /**
   * Serves one request of a client without a session, as if the client had just initialized with this
   * revision. No state is left afterwards, and server requests are rejected.
   */
  serveSessionless(exchange: SessionlessRequest): void {
    serveSessionless(this.#endpoint, this.#host, exchange)
  }

  /**
   * Ends all sessions as soon as none of them has a request in flight, or after `drainMs`. Until then
   * they take requests, and further sessions can be opened. Those that another process can continue stay in the
   * store. Idempotent; never rejects.
   */
  async close({ drainMs = limits.drainMs.default }: { drainMs?: number } = {}): Promise<void> {
    const isIdle = () => !this.#table.some(session => session.hasRequests)
    if (!isIdle() && drainMs > 0) {
      await withTimeout(drainMs, this.#clock, done => {
        this.#onActivity = () => isIdle() && done()
      })
      this.#onActivity = undefined
    }
    this.#isClosing = true
    for (const session of this.#kept?.all() ?? []) if (session.isMovable) this.#leave(session)
    await this.#table.endAll({ drainMs: 0 })
  }
}

const later = { 'retry-after': '5' }

function moveError(cause: unknown): unknown {
  if (!(cause instanceof RpcError)) return cause
  const code = cause.kind === 'subscription_failed' ? 'full' : 'unsupported'
  return new SessionMoveError(code, cause.message, { cause })
}

/** Returns 192 random bits, which cannot be guessed. */
function sessionId(): string {
  return randomHex(24)
}
