import { type Deadlines, timed } from '../../../../util/time/deadline.ts'
import type { SessionTable, TrackedSession } from '../session-table.ts'
import type { SessionRecord } from './session-record.ts'
import type { SessionStore } from './session-store.ts'
import type { StreamEvent } from './stream-event.ts'

/** A session that a store can keep. */
export interface KeptSession extends TrackedSession {
  /** Returns its record; undefined if it cannot be kept. `owner` is the name under which it is counted. */
  record(owner: string | undefined): SessionRecord | undefined
}

/** The sessions of a service that a store keeps for other processes. */
export class KeptSessions<S extends KeptSession> {
  readonly #store: SessionStore
  readonly #table: SessionTable<S>
  readonly #deadlines: Deadlines
  readonly #sessions = new Set<S>()
  /** Sessions whose records have changed in this turn. */
  readonly #changed = new Set<S>()
  readonly #touching = timed(() => this.#touch())

  constructor(store: SessionStore, table: SessionTable<S>, deadlines: Deadlines) {
    this.#store = store
    this.#table = table
    this.#deadlines = deadlines
  }

  has(session: S): boolean {
    return this.#sessions.has(session)
  }

  all(): readonly S[] {
    return [...this.#sessions]
  }

  record(session: S): SessionRecord | undefined {
    return session.record(this.#table.ownerOf(session))
  }

  /** Has a new session kept. The promise settles when it is, or cannot be; it never rejects. */
  opened(session: S): Promise<void> | undefined {
    const record = this.record(session)
    if (record === undefined) return undefined
    this.add(session)
    return settled(this.#store.opened(session.id, record))
  }

  /** Adds a session that the store has already. */
  add(session: S): void {
    if (this.#sessions.size === 0) this.#deadlines.start(this.#touching, this.#touchMs)
    this.#sessions.add(session)
  }

  /** Stops reporting a session, which the store keeps. Returns false for one that was not reported. */
  remove(session: S): boolean {
    this.#changed.delete(session)
    const wasKept = this.#sessions.delete(session)
    if (wasKept && this.#sessions.size === 0) this.#deadlines.stop(this.#touching)
    return wasKept
  }

  /** Has the store forget a session. The promise never rejects. */
  ended(session: S): Promise<void> | undefined {
    return this.remove(session) ? settled(this.#store.ended(session.id)) : undefined
  }

  /** Reports the record of a session, once for all changes of this turn. */
  changed(session: S): void {
    if (!this.#sessions.has(session)) return
    if (this.#changed.size === 0) queueMicrotask(() => this.#report())
    this.#changed.add(session)
  }

  event(session: S, event: StreamEvent): void {
    if (this.#sessions.has(session)) this.#store.event(session.id, event)
  }

  #report(): void {
    const changed = [...this.#changed]
    this.#changed.clear()
    for (const session of changed) {
      const record = this.record(session)
      if (record !== undefined) this.#store.changed(session.id, record)
    }
  }

  get #touchMs(): number {
    return Math.max(1, this.#table.idleMs / 10)
  }

  #touch(): void {
    const withinMs = this.#touchMs
    for (const session of this.#sessions) {
      if (this.#table.wasUsed(session, withinMs)) this.#store.touched(session.id)
    }
    if (this.#sessions.size > 0) this.#deadlines.start(this.#touching, withinMs)
  }
}

/** Returns a promise that settles with another one, but never rejects; undefined without one. */
function settled(promise: void | Promise<void>): Promise<void> | undefined {
  return promise?.then(undefined, () => {})
}
