import type { Principal } from '../../../jsonrpc/channel.ts'
import { limits } from '../../../util/limits/limits.ts'
import type { Clock } from '../../../util/time/clock.ts'
import { backgroundDeadlines } from '../../../util/time/deadline.ts'
import { Expiry } from '../../../util/time/expiry.ts'

/**
 * Limits on the number and the lifetime of sessions. A limit that is left out has the default of
 * `docs/limits.md`.
 */
export interface SessionLimits {
  readonly maxSessions?: number
  readonly maxSessionsPerPrincipal?: number
  readonly idleMs?: number
  /**
   * Time in milliseconds in which a client must send its next message after it has opened a session.
   */
  readonly initializeTimeoutMs?: number
  /** Idle time in milliseconds after which a session may be evicted to make room for another. */
  readonly evictableMs?: number
}

/** A session that a SessionTable tracks. */
export interface TrackedSession {
  readonly id: string
  /** The caller that opened the session. No other principal finds it. */
  readonly principal: Principal | undefined
  /** Whether a request is in flight or a stream is open. */
  readonly isBusy: boolean
  /** Ends the session after waiting up to `drainMs` for requests in flight; by default at once. */
  end(options?: { readonly drainMs?: number }): Promise<void>
}

/**
 * Finds the sessions of a service by id and principal, limits their number, and ends those that expire.
 */
export class SessionTable<S extends TrackedSession> {
  readonly #maxSessions: number
  readonly #maxPerPrincipal: number
  readonly #evictableMs: number
  readonly #initializeTimeoutMs: number
  readonly #idleMs: number
  readonly #sessions = new Map<string, S>()
  readonly #byPrincipal = new Map<string, Set<S>>()
  /** Sessions whose client has sent nothing since it opened them. */
  readonly #initializing: Expiry<S>
  readonly #idle: Expiry<S>

  constructor(options: SessionLimits = {}, clock?: Clock, deadlines = backgroundDeadlines(clock)) {
    this.#maxSessions = options.maxSessions ?? limits.sessions.default
    this.#maxPerPrincipal = options.maxSessionsPerPrincipal ?? limits.sessionsPerPrincipal.default
    this.#evictableMs = options.evictableMs ?? limits.sessionEvictableMs.default
    const end = (session: S): void => void session.end()
    this.#initializeTimeoutMs = options.initializeTimeoutMs ?? limits.sessionInitializeMs.default
    this.#idleMs = options.idleMs ?? limits.sessionIdleMs.default
    this.#initializing = new Expiry(end, clock, deadlines)
    this.#idle = new Expiry(end, clock, deadlines)
  }

  get size(): number {
    return this.#sessions.size
  }

  /**
   * Returns the session with this id if it belongs to this principal. The result does not reveal
   * whether another principal has a session with this id.
   */
  find(id: string, principal: Principal | undefined): S | undefined {
    const session = this.#sessions.get(id)
    return session?.principal?.id === principal?.id ? session : undefined
  }

  /**
   * Whether this principal may open another session. At the limit, evicts the session that has been
   * idle longest, if it may be evicted.
   */
  makeRoom(principal: Principal | undefined): boolean {
    const own = principal && this.#byPrincipal.get(principal.id)
    if (own !== undefined && own.size >= this.#maxPerPrincipal)
      return this.#evict(longest(own, this.#idle))
    return this.#sessions.size < this.#maxSessions || this.#evict(this.#idle.first)
  }

  /** Adds a session that has just been opened. */
  add(session: S): void {
    this.#sessions.set(session.id, session)
    this.#initializing.add(session, this.#initializeTimeoutMs)
    const { principal } = session
    if (principal === undefined) return
    const own = this.#byPrincipal.get(principal.id)
    if (own === undefined) this.#byPrincipal.set(principal.id, new Set([session]))
    else own.add(session)
  }

  /** Restarts the initialize timeout, because the client has got its response only now. */
  initialized(session: S): void {
    if (this.#sessions.has(session.id)) this.#initializing.add(session, this.#initializeTimeoutMs)
  }

  /** Records that the client has sent something. */
  touch(session: S): void {
    this.#initializing.delete(session)
    this.updateIdle(session)
  }

  /** Starts or stops the idle timeout of a session that may have become busy or idle. */
  updateIdle(session: S): void {
    if (!this.#sessions.has(session.id)) return
    if (session.isBusy) this.#idle.delete(session)
    else if (this.#initializing.leftMs(session) === undefined) this.#idle.add(session, this.#idleMs)
  }

  /** Removes a session; does nothing for one that has been removed. */
  remove(session: S): void {
    if (!this.#sessions.delete(session.id)) return
    this.#initializing.delete(session)
    this.#idle.delete(session)
    const { principal } = session
    const own = principal && this.#byPrincipal.get(principal.id)
    if (principal === undefined || own === undefined) return
    own.delete(session)
    if (own.size === 0) this.#byPrincipal.delete(principal.id)
  }

  /** Ends all sessions after waiting up to `drainMs` for their requests in flight. */
  async endAll({ drainMs }: { readonly drainMs?: number }): Promise<void> {
    await Promise.all(Array.from(this.#sessions.values(), session => session.end({ drainMs })))
  }

  /** Ends a session, if it may be evicted. Returns whether it was. */
  #evict(session: S | undefined): boolean {
    const leftMs = session && this.#idle.leftMs(session)
    if (session === undefined || leftMs === undefined) return false
    if (this.#idleMs - leftMs < this.#evictableMs) return false
    this.remove(session)
    void session.end()
    return true
  }
}

function longest<S>(sessions: Iterable<S>, idle: Expiry<S>): S | undefined {
  let found: S | undefined
  let nearestMs = Number.POSITIVE_INFINITY
  for (const session of sessions) {
    const leftMs = idle.leftMs(session) ?? Number.POSITIVE_INFINITY
    if (leftMs < nearestMs) {
      nearestMs = leftMs
      found = session
    }
  }
  return found
}
