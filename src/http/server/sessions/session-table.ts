import type { Principal } from '../../../jsonrpc/channel.ts'
import { limits } from '../../../util/limits/limits.ts'
import { housekeeping } from '../../../util/time/background.ts'
import type { Clock } from '../../../util/time/clock.ts'
import { Lapse } from '../../../util/time/lapse.ts'

/** How many sessions there may be and how long. What is left out has the default of `docs/limits.md`. */
export interface SessionLimits {
  readonly maxSessions?: number
  readonly maxSessionsPerPrincipal?: number
  readonly idleMs?: number
  /** How long a client may be silent after opening a session. */
  readonly openingMs?: number
  /** How long a session must have been idle to make room for another. */
  readonly spareMs?: number
}

/** What a table keeps. */
export interface Kept {
  readonly id: string
  /** Whoever opened it. Nobody else finds it. */
  readonly principal: Principal | undefined
  /** Whether a request is in flight or a stream is open. */
  readonly isBusy: boolean
  /** Ends it at once, or when its requests have been answered within `drainMs`. */
  end(options?: { readonly drainMs?: number }): Promise<void>
}

/** The sessions of a service: who finds them, how many there are, and when they have to go. */
export class SessionTable<S extends Kept> {
  readonly #maxSessions: number
  readonly #maxPerPrincipal: number
  readonly #spareMs: number
  readonly #sessions = new Map<string, S>()
  readonly #byPrincipal = new Map<string, Set<S>>()
  /** Those whose client has not been heard of since it opened them. */
  readonly #opening: Lapse<S>
  readonly #idle: Lapse<S>

  constructor(options: SessionLimits = {}, clock?: Clock, deadlines = housekeeping(clock)) {
    this.#maxSessions = options.maxSessions ?? limits.sessions.default
    this.#maxPerPrincipal = options.maxSessionsPerPrincipal ?? limits.sessionsPerPrincipal.default
    this.#spareMs = options.spareMs ?? limits.sessionSpareMs.default
    const end = (session: S): void => void session.end()
    const openingMs = options.openingMs ?? limits.sessionOpeningMs.default
    this.#opening = new Lapse(openingMs, end, deadlines, clock)
    this.#idle = new Lapse(options.idleMs ?? limits.sessionIdleMs.default, end, deadlines, clock)
  }

  get size(): number {
    return this.#sessions.size
  }

  /**
   * The session with this id, if it belongs to this principal. Whether there is one of somebody else is
   * not told.
   */
  find(id: string, principal: Principal | undefined): S | undefined {
    const session = this.#sessions.get(id)
    return session?.principal?.id === principal?.id ? session : undefined
  }

  /** Whether this principal may have one more. At the limit the one that was idle longest may go. */
  makeRoom(principal: Principal | undefined): boolean {
    const own = principal && this.#byPrincipal.get(principal.id)
    if (own !== undefined && own.size >= this.#maxPerPrincipal)
      return this.#spare(longest(own, this.#idle))
    return this.#sessions.size < this.#maxSessions || this.#spare(this.#idle.first)
  }

  /** Takes in a session that has just been opened. */
  add(session: S): void {
    this.#sessions.set(session.id, session)
    this.#opening.add(session)
    const { principal } = session
    if (principal === undefined) return
    const own = this.#byPrincipal.get(principal.id)
    if (own === undefined) this.#byPrincipal.set(principal.id, new Set([session]))
    else own.add(session)
  }

  /** The client has been answered, and has the whole time from now on to go on. */
  opened(session: S): void {
    if (this.#sessions.has(session.id)) this.#opening.add(session)
  }

  /** The client has been heard of again. */
  heard(session: S): void {
    this.#opening.delete(session)
    this.moved(session)
  }

  /** It may have become busy or idle. */
  moved(session: S): void {
    if (!this.#sessions.has(session.id)) return
    if (session.isBusy) this.#idle.delete(session)
    else if (this.#opening.waitedMs(session) === undefined) this.#idle.add(session)
  }

  /** Lets go of a session; without effect for one that is gone already. */
  remove(session: S): void {
    if (!this.#sessions.delete(session.id)) return
    this.#opening.delete(session)
    this.#idle.delete(session)
    const { principal } = session
    const own = principal && this.#byPrincipal.get(principal.id)
    if (principal === undefined || own === undefined) return
    own.delete(session)
    if (own.size === 0) this.#byPrincipal.delete(principal.id)
  }

  /** Ends all of them: their requests are answered within `drainMs`. */
  async endAll({ drainMs }: { readonly drainMs?: number }): Promise<void> {
    await Promise.all(Array.from(this.#sessions.values(), session => session.end({ drainMs })))
  }

  /** Ends a session, if it can be spared. */
  #spare(session: S | undefined): boolean {
    const idleMs = session && this.#idle.waitedMs(session)
    if (session === undefined || idleMs === undefined || idleMs < this.#spareMs) return false
    this.remove(session)
    void session.end()
    return true
  }
}

function longest<S>(sessions: Iterable<S>, idle: Lapse<S>): S | undefined {
  let found: S | undefined
  let most = -1
  for (const session of sessions) {
    const idleMs = idle.waitedMs(session) ?? -1
    if (idleMs > most) {
      most = idleMs
      found = session
    }
  }
  return found
}
