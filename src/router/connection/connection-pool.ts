import { ChannelError } from '../../jsonrpc/channel.ts'
import type { Caller } from '../../mcp/caller.ts'
import type { ClientCapabilities } from '../../mcp/types/base.ts'
import type { Session } from '../../server/core/session.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Deadlines, type Timed, timed } from '../../util/time/deadline.ts'
import type { Errand } from '../forward/errand.ts'
import { capabilitiesFor } from './capabilities.ts'
import type { Lane } from './connection.ts'

/** What further connections to an instance need. */
export interface LanesHost {
  readonly sharing: 'alike' | 'one' | 'each'
  readonly deadlines: Deadlines
  /** Opens a connection that declares these. */
  open(capabilities: ClientCapabilities, first: Errand): Promise<Lane>
}

/** Who a connection is for. */
export interface LaneUser {
  readonly caller: Caller
  readonly session: Session | undefined
  readonly errand: Errand
}

interface Entry {
  readonly opening: Promise<Lane>
  lane: Lane | undefined
  readonly idle: Timed
}

/**
 * The connections to one instance beside its first: where a server of the session revisions has to be
 * told, when it is connected to, what can be asked, callers of whom something else can be asked need
 * another one. Those that nobody uses for a while are closed.
 */
export class Lanes {
  readonly #host: LanesHost
  readonly #entries = new Map<string, Entry>()
  readonly #keys = new WeakMap<Caller, string>()
  readonly #sessions = new WeakMap<Session, string>()
  #lastSession = 0

  constructor(host: LanesHost) {
    this.#host = host
  }

  /** Those that are open. */
  open(): readonly Lane[] {
    return Array.from(this.#entries.values(), ({ lane }) => lane).filter(lane => lane !== undefined)
  }

  /** The connection for a caller: the first one wherever it will do. */
  for(first: Lane, user: LaneUser): Lane | Promise<Lane> {
    const { sharing } = this.#host
    const { revision } = first.server
    if (revision.era === 'stateless' || sharing === 'one') return first
    const key = this.#keyOf(user, first)
    if (key === '') return first
    const entry = this.#entries.get(key)
    if (entry === undefined) return this.#open(key, user, first)
    if (entry.lane === undefined) return entry.opening
    if (!entry.lane.isOpen) {
      void this.#drop(key)
      return this.#open(key, user, first)
    }
    this.#use(entry)
    return entry.lane
  }

  /** Closes all of them. Never rejects. */
  async close(): Promise<void> {
    const entries = [...this.#entries]
    await Promise.all(entries.map(([key]) => this.#drop(key)))
  }

  /** What tells the connection of a caller from those of others; empty for the first. */
  #keyOf({ caller, session, errand }: LaneUser, { server }: Lane): string {
    if (
      this.#host.sharing === 'each' &&
      session !== undefined &&
      caller.revision.era === 'session'
    ) {
      return this.#sessionKey(session)
    }
    let key = this.#keys.get(caller)
    if (key === undefined) {
      const text = JSON.stringify(capabilitiesFor(caller, server.revision))
      key = text === '{}' ? '' : text
      this.#keys.set(caller, key)
    }
    return key === '' ? '' : this.#freeKey(key, errand.owner)
  }

  /**
   * The first of the connections for such callers that this one can use: where callers share, any on
   * which no question is doubtful, or somebody else's; where they do not, one that is idle as well.
   */
  #freeKey(key: string, owner: unknown): string {
    const isEach = this.#host.sharing === 'each'
    for (let number = 1; ; number++) {
      const numbered = number === 1 ? key : `${key} ${number}`
      const entry = this.#entries.get(numbered)
      // Where there can be no more of them they are shared, and what is doubtful has to wait.
      if (entry === undefined) return isEach || this.#hasRoom() ? numbered : key
      // One that is being opened is already somebody's, and cannot have asked much.
      if (entry.lane === undefined ? !isEach : isUsable(entry.lane)) return numbered
    }
    function isUsable(lane: Lane): boolean {
      return (!isEach || lane.inFlight === 0) && lane.isOpenTo(owner)
    }
  }

  #sessionKey(session: Session): string {
    let key = this.#sessions.get(session)
    if (key === undefined) {
      const made = `session ${++this.#lastSession}`
      this.#sessions.set(session, made)
      void session.closed.then(() => this.#drop(made))
      key = made
    }
    return key
  }

  #open(key: string, { caller, errand }: LaneUser, first: Lane): Promise<Lane> {
    this.#makeRoom()
    const opening = this.#host.open(capabilitiesFor(caller, first.server.revision), errand)
    const entry: Entry = { opening, lane: undefined, idle: timed(() => this.#onIdle(key)) }
    this.#entries.set(key, entry)
    const gone = (): void => {
      if (this.#entries.get(key) === entry) void this.#drop(key)
    }
    opening.then(lane => {
      entry.lane = lane
      void lane.closed.then(gone)
      this.#use(entry)
    }, gone)
    return opening
  }

  #hasRoom(): boolean {
    return this.#entries.size < limits.lanes.default
  }

  /** Throws where there are as many as there may be, all of them in use. */
  #makeRoom(): void {
    if (this.#hasRoom()) return
    for (const [key, { lane }] of this.#entries) {
      if (lane === undefined || lane.inFlight > 0) continue
      void this.#drop(key)
      return
    }
    const what = `there are ${limits.lanes.default} connections to this server, and all are in use`
    throw new ChannelError('too-many', what)
  }

  #use({ idle }: Entry): void {
    const { deadlines } = this.#host
    deadlines.stop(idle)
    deadlines.start(idle, limits.laneIdleMs.default)
  }

  #onIdle(key: string): void {
    const entry = this.#entries.get(key)
    if (entry?.lane === undefined) return
    if (entry.lane.inFlight > 0) this.#use(entry)
    else void this.#drop(key)
  }

  async #drop(key: string): Promise<void> {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#host.deadlines.stop(entry.idle)
    await entry.opening.then(
      lane => lane.close(),
      () => {},
    )
  }
}
