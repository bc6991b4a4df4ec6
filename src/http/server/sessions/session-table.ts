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
  /**
   * Maximum number of sessions; 5000 by default. At the limit an idle session is evicted, or else
   * `initialize` gets 503.
   */
  readonly maxSessions?: number
  /** Maximum number of sessions of one principal; 100 by default. */
  readonly maxSessionsPerPrincipal?: number
  /**
   * How many sessions without a principal one client address may have. If it is set, it also holds for
   * addresses of this machine and of private networks.
   */
  readonly maxSessionsPerAddress?: number
  /**
   * Time in milliseconds after which a session without requests and open streams ends; 30 minutes by
   * default.
   */
  readonly idleMs?: number
  /**
   * Time in milliseconds in which a client must send its next message after it has opened a session.
   */
  readonly initializeTimeoutMs?: number
  /** Idle time in milliseconds after which a session may be evicted to make room for another. */
  readonly evictableMs?: number
}

/** The request that opens a session. */
export interface SessionOpening {
  readonly principal?: Principal | undefined
  /** The name under which the session is counted, if it is known already. */
  readonly owner?: string | undefined
  /** Returns the name under which the address of the client is counted. */
  address?(includesLocal: boolean): string | undefined
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
  readonly #maxPerAddress: number
  readonly #includesLocal: boolean
  /** The sessions of each principal and, without a principal, of each client address. */
  readonly #byOwner = new Map<string, Set<S>>()
  readonly #owners = new Map<S, string>()
  /** Sessions whose client has sent nothing since it opened them. */
  readonly #initializing: Expiry<S>
  readonly #idle: Expiry<S>

  constructor(options: SessionLimits = {}, clock?: Clock, deadlines = backgroundDeadlines(clock)) {
    this.#maxSessions = options.maxSessions ?? limits.sessions.default
    this.#maxPerPrincipal = options.maxSessionsPerPrincipal ?? limits.sessionsPerPrincipal.default
    this.#maxPerAddress = options.maxSessionsPerAddress ?? limits.sessionsPerAddress.default
    this.#includesLocal = options.maxSessionsPerAddress !== undefined
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

  /** Whether there is a session with this id, of any principal. */
  has(id: string): boolean {
    return this.#sessions.has(id)
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
   * Whether the caller of a request may open another session. At the limit, evicts the session that has
   * been idle longest, if it may be evicted.
   */
  makeRoom(opening: SessionOpening): boolean {
    const own = this.#byOwner.get(this.#ownerFrom(opening) ?? '')
    const max = opening.principal === undefined ? this.#maxPerAddress : this.#maxPerPrincipal
    if (own !== undefined && own.size >= max) return this.#evict(longest(own, this.#idle))
    return this.#sessions.size < this.#maxSessions || this.#evict(this.#idle.first)
  }

  /** Adds a session that has just been opened by a request. */
  add(session: S, opening: SessionOpening): void {
    this.#sessions.set(session.id, session)
    this.#initializing.add(session, this.#initializeTimeoutMs)
    const owner = this.#ownerFrom(opening)
    if (owner === undefined) return
    this.#owners.set(session, owner)
    const own = this.#byOwner.get(owner)
    if (own === undefined) this.#byOwner.set(owner, new Set([session]))
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

  /** Returns the session with this id, of any principal. */
  get(id: string): S | undefined {
    return this.#sessions.get(id)
  }

  /** Returns the name under which a session counts for a principal or a client address. */
  ownerOf(session: S): string | undefined {
    return this.#owners.get(session)
  }

  /** Whether a session is in use, or was within the last `ms` milliseconds. */
  wasUsed(session: S, ms: number): boolean {
    if (session.isBusy) return true
    const leftMs = this.#idle.leftMs(session)
    return leftMs !== undefined && this.#idleMs - leftMs <= ms
  }

  /** Time in milliseconds after which an idle session ends. */
  get idleMs(): number {
    return this.#idleMs
  }

  /** Removes a session; does nothing for one that has been removed. */
  remove(session: S): void {
    if (!this.#sessions.delete(session.id)) return
    this.#initializing.delete(session)
    this.#idle.delete(session)
    const owner = this.#owners.get(session)
    const own = owner === undefined ? undefined : this.#byOwner.get(owner)
    if (owner === undefined || own === undefined) return
    this.#owners.delete(session)
    own.delete(session)
    if (own.size === 0) this.#byOwner.delete(owner)
  }

  /** Whether a session meets a condition. */
  some(condition: (session: S) => boolean): boolean {
    for (const session of this.#sessions.values()) if (condition(session)) return true
    return false
  }

  /** Ends all sessions after waiting up to `drainMs` for their requests in flight. */
  async endAll({ drainMs }: { readonly drainMs?: number }): Promise<void> {
    await Promise.all(Array.from(this.#sessions.values(), session => session.end({ drainMs })))
  }

  #ownerFrom(opening: SessionOpening): string | undefined {
    const { principal } = opening
    if (opening.owner !== undefined) return opening.owner
    if (principal !== undefined) return `principal ${principal.id}`
    const name = opening.address?.(this.#includesLocal)
    return name === undefined ? undefined : `address ${name}`
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
