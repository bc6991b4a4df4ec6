import { ChannelError } from '../../jsonrpc/channel.ts'
import type { Caller } from '../../mcp/caller.ts'
import type { ServerSession } from '../../server/core/session.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Deadlines, type Timed, timed } from '../../util/time/deadline.ts'
import { capabilitiesFor } from './capabilities.ts'
import type { UpstreamConnection } from './connection.ts'
import type { InFlightCall } from './in-flight-list.ts'

export interface ConnectionPoolHost {
  readonly sharing: 'compatible' | 'shared' | 'per-caller'
  readonly deadlines: Deadlines
  /** The number of connections, the first included; by default one more than `upstreamConnections`. */
  readonly max?: number
  /**
   * Returns the key of the credentials of a call, if each caller has its own: only calls with the same key share a
   * connection, and none uses the first. Throws if the caller has none.
   */
  credentialKeyOf?(call: PooledCall): string
  /** Opens a connection that declares the capabilities of a caller, on behalf of its call. */
  open(call: PooledCall): Promise<UpstreamConnection>
}

/** A call that needs a connection. */
export interface PooledCall extends InFlightCall {
  readonly caller: Caller
  /** The session of a session-based caller. */
  readonly session: ServerSession | undefined
}

interface Entry {
  readonly opening: Promise<UpstreamConnection>
  connection: UpstreamConnection | undefined
  /** Ends the hold on the session that alone uses the connection, if it is of one. */
  letGo: (() => void) | undefined
  readonly idle: Timed
}

/**
 * The connections to one instance besides its first one. A session-based server learns the client's
 * capabilities when it is connected, so callers with other capabilities need another connection.
 * Connections that are idle for `upstreamIdleMs` are closed.
 */
export class ConnectionPool {
  readonly #host: ConnectionPoolHost
  /** The number of connections besides the first. */
  readonly #max: number
  readonly #entries = new Map<string, Entry>()
  readonly #keys = new WeakMap<Caller, string>()
  readonly #sessions = new WeakMap<ServerSession, string>()
  readonly #credentialKeyOf: ((call: PooledCall) => string) | undefined
  #lastSession = 0

  constructor(host: ConnectionPoolHost) {
    this.#host = host
    this.#credentialKeyOf = host.credentialKeyOf
    const max = this.#credentialKeyOf === undefined ? 'upstreamConnections' : 'callerConnections'
    this.#max = host.max === undefined ? limits[max].default : host.max - 1
  }

  /** The connections that are open. */
  open(): readonly UpstreamConnection[] {
    const all = Array.from(this.#entries.values(), ({ connection }) => connection)
    return all.filter(connection => connection !== undefined)
  }

  /** Returns the connection for a call: `first` wherever that is suitable, else one that is opened. */
  for(
    first: UpstreamConnection,
    call: PooledCall,
  ): UpstreamConnection | Promise<UpstreamConnection> {
    const { sharing } = this.#host
    const { revision } = first.server
    const credentials = this.#credentialKeyOf?.(call)
    if (credentials === undefined) {
      if (revision.features.identity === 'request' || sharing === 'shared') return first
    }
    const key = this.#keyOf(call, first, credentials)
    if (key === '') return first
    const entry = this.#entries.get(key)
    if (entry === undefined) return this.#open(key, call)
    if (entry.connection === undefined) return entry.opening
    if (!entry.connection.isOpen) {
      void this.#drop(key)
      return this.#open(key, call)
    }
    this.#use(entry)
    return entry.connection
  }

  /** Closes all of them. Never rejects. */
  async close(): Promise<void> {
    const entries = [...this.#entries]
    await Promise.all(entries.map(([key]) => this.#drop(key)))
  }

  /** The key of the connection for a call; empty for the first connection. */
  #keyOf(
    call: PooledCall,
    { server }: UpstreamConnection,
    credentials: string | undefined,
  ): string {
    const { caller, session, owner } = call
    const { sharing } = this.#host
    if (this.#isOwn(call) && session !== undefined) return this.#sessionKey(session, credentials)
    if (sharing === 'shared' && credentials !== undefined) return credentials
    let key = this.#keys.get(caller)
    if (key === undefined) {
      const text = JSON.stringify(capabilitiesFor(caller, server.revision))
      key = text === '{}' ? '' : text
      this.#keys.set(caller, key)
    }
    if (credentials !== undefined) return this.#freeKey(`${credentials} ${key}`, owner)
    return key === '' ? '' : this.#freeKey(key, owner)
  }

  /**
   * The first of the connections for these capabilities that the owner can use: where callers share, one
   * that the owner makes no server request ambiguous on; else one that is idle as well.
   */
  #freeKey(key: string, owner: unknown): string {
    const isExclusive = this.#host.sharing === 'per-caller'
    for (let number = 1; ; number++) {
      const numbered = number === 1 ? key : `${key} ${number}`
      const entry = this.#entries.get(numbered)
      // At the limit connections are shared, and ambiguous requests have to be held.
      if (entry === undefined) return isExclusive || this.#hasRoom() ? numbered : key
      // A connection that is being opened already has an owner, and has hardly sent any request.
      if (entry.connection === undefined ? !isExclusive : isUsable(entry.connection))
        return numbered
    }
    function isUsable(connection: UpstreamConnection): boolean {
      if (connection.server.revision.features.identity === 'request') return true
      return (!isExclusive || connection.inFlight === 0) && connection.isOpenTo(owner)
    }
  }

  #sessionKey(session: ServerSession, credentials: string | undefined): string {
    let key = this.#sessions.get(session)
    if (key === undefined) {
      const made = `session ${++this.#lastSession}`
      this.#sessions.set(session, made)
      // The requests of a session may come with different tokens of its user.
      void session.closed.then(() => {
        const own = [...this.#entries.keys()].filter(
          one => one === made || one.endsWith(` ${made}`),
        )
        return Promise.all(own.map(one => this.#drop(one)))
      })
      key = made
    }
    return credentials === undefined ? key : `${credentials} ${key}`
  }

  #open(key: string, call: PooledCall): Promise<UpstreamConnection> {
    this.#makeRoom()
    const opening = this.#host.open(call)
    const idle = timed(() => this.#onIdle(key))
    const entry: Entry = { opening, connection: undefined, letGo: undefined, idle }
    this.#entries.set(key, entry)
    const remove = (): void => {
      if (this.#entries.get(key) === entry) void this.#drop(key)
    }
    opening.then(connection => {
      entry.connection = connection
      // What a session-based server keeps for its client is lost with the connection.
      if (this.#entries.get(key) === entry && connection.server.revision.features.sessions) {
        entry.letGo = this.#isOwn(call) ? call.session?.hold() : undefined
      }
      void connection.closed.then(remove)
      this.#use(entry)
    }, remove)
    return opening
  }

  /** Whether a call uses a connection that belongs to its session. */
  #isOwn({ session }: PooledCall): boolean {
    return this.#host.sharing === 'per-caller' && session !== undefined
  }

  #hasRoom(): boolean {
    return this.#entries.size < this.#max
  }

  /** Closes an idle connection at the limit. Throws a ChannelError `'too-many'` if all are in use. */
  #makeRoom(): void {
    if (this.#hasRoom()) return
    for (const [key, { connection }] of this.#entries) {
      if (connection === undefined || connection.inFlight > 0) continue
      void this.#drop(key)
      return
    }
    const what = `all ${this.#max + 1} connections to this server are in use`
    throw new ChannelError('too-many', what)
  }

  #use({ idle }: Entry): void {
    const { deadlines } = this.#host
    deadlines.stop(idle)
    deadlines.start(idle, limits.upstreamIdleMs.default)
  }

  #onIdle(key: string): void {
    const entry = this.#entries.get(key)
    if (entry?.connection === undefined) return
    if (entry.connection.inFlight > 0) this.#use(entry)
    else void this.#drop(key)
  }

  async #drop(key: string): Promise<void> {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#host.deadlines.stop(entry.idle)
    entry.letGo?.()
    await entry.opening.then(
      connection => connection.close(),
      () => {},
    )
  }
}
