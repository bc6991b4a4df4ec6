import type { Backplane } from '../../backplane/backplane.ts'
import type { SessionRecord } from '../../http/server/sessions/moving/session-record.ts'
import type {
  MovableSessions,
  SessionStore,
} from '../../http/server/sessions/moving/session-store.ts'
import type { StreamEvent } from '../../http/server/sessions/moving/stream-event.ts'
import { limits } from '../../util/limits/limits.ts'
import { inBatches } from '../../util/promises.ts'
import { EventMirror } from './event-mirror.ts'
import { SessionRecordWriter } from './session-record.ts'
import { sessionKey, storedSessionText } from './stored-session.ts'

/** What the sessions of a node need of it. */
export interface OwnedSessionsHost {
  readonly node: string
  readonly backplane: Backplane
  /** The address of the links of this node. */
  readonly address: string
  /** The path at which sessions are served. */
  readonly path: string
  /** Time for which a session without requests is kept. */
  readonly idleMs: number
  /** Called when a session was dropped, because another node owns it. */
  readonly onFenced?: () => void
}

interface OwnedSession {
  readonly writer: SessionRecordWriter
  readonly events: EventMirror
  /** Whether this node has made sure that it owns the session, since its lease was interrupted. */
  isAsserted: boolean
}

/** The sessions that this node owns, and what is stored of them for other nodes. */
export class OwnedSessions implements SessionStore {
  readonly #host: OwnedSessionsHost
  readonly #owned = new Map<string, OwnedSession>()
  #sessions: MovableSessions | undefined

  constructor(host: OwnedSessionsHost) {
    this.#host = host
  }

  get size(): number {
    return this.#owned.size
  }

  /** The number of sessions with changes that the engine does not have yet. */
  get unsaved(): number {
    let unsaved = 0
    for (const { writer } of this.#owned.values()) if (!writer.isSaved) unsaved++
    return unsaved
  }

  /** The sessions. */
  get ids(): Iterable<string> {
    return this.#owned.keys()
  }

  /** Resolves when what is stored of a session is complete, or cannot be at present. */
  async settled(session: string): Promise<void> {
    const owned = this.#owned.get(session)
    await Promise.all([owned?.writer.flush(), owned?.events.settled()])
  }

  /** Whether this node has made sure that it owns a session. */
  isAsserted(session: string): boolean {
    return this.#owned.get(session)?.isAsserted ?? false
  }

  attached(sessions: MovableSessions): void {
    this.#sessions = sessions
  }

  opened(session: string, record: SessionRecord): Promise<void> {
    return this.#add(session, record, 0).writer.flush()
  }

  /**
   * Continues a session in this process, for which this node has got an epoch. Throws a SessionMoveError if it cannot
   * be continued here.
   */
  restore(session: string, record: unknown, events: readonly unknown[], epoch: number): void {
    // Before the session reports its new record.
    this.#add(session, undefined, epoch).events.begin(epoch)
    try {
      this.#sessions?.restore(record, events, epoch)
    } catch (error) {
      this.#owned.delete(session)
      throw error
    }
  }

  /** Lets a session leave this process, for another node. Throws a SessionMoveError while it has requests in flight. */
  release(session: string): void {
    this.#sessions?.release(session)
  }

  changed(session: string, record: SessionRecord): void {
    void this.#owned.get(session)?.writer.write(this.#text(record))
  }

  touched(session: string): void {
    void this.#owned.get(session)?.writer.touch()
  }

  async ended(session: string): Promise<void> {
    const owned = this.#owned.get(session)
    if (owned === undefined) return
    this.#owned.delete(session)
    await Promise.all([
      owned.writer.end(),
      // Runs out by itself if the engine cannot be reached.
      this.#host.backplane.log.delete(sessionKey(session)).catch(() => {}),
    ])
  }

  event(session: string, event: StreamEvent): void {
    this.#owned.get(session)?.events.add(JSON.stringify(event))
  }

  /** Writes what could not be written while the engine could not be reached. */
  flush(): void {
    for (const { writer, events } of this.#owned.values()) {
      if (!writer.isSaved) void writer.flush()
      events.flush()
    }
  }

  /** From now on acts for a session only after it was asserted. */
  unassertAll(): void {
    for (const owned of this.#owned.values()) owned.isAsserted = false
  }

  /**
   * Makes sure that this node owns a session. Resolves to false, and drops the session, if another node does. Rejects
   * if that cannot be found out.
   */
  async assert(session: string): Promise<boolean> {
    const owned = this.#owned.get(session)
    if (owned === undefined) return false
    if (owned.isAsserted) return true
    owned.isAsserted = await owned.writer.assert()
    if (!owned.isAsserted) this.#lose(session)
    return owned.isAsserted
  }

  /** Asserts all sessions. Sessions whose owner cannot be found out stay unasserted. */
  async assertAll(): Promise<void> {
    const assert = (session: string) => this.assert(session).catch(() => false)
    await inBatches([...this.#owned.keys()], limits.adoptionBatch.default, assert)
  }

  /** Writes all records again, because the engine was emptied. Never rejects. */
  async rewriteAll(): Promise<void> {
    const rewrite = ({ writer }: OwnedSession) => writer.rewrite()
    await inBatches([...this.#owned.values()], limits.adoptionBatch.default, rewrite)
  }

  /** Does not store a session any more. What is stored stays. */
  forget(session: string): void {
    this.#owned.delete(session)
  }

  #add(session: string, record: SessionRecord | undefined, epoch: number): OwnedSession {
    const { node, backplane, idleMs } = this.#host
    const lose = (): void => this.#lose(session)
    const events = new EventMirror(sessionKey(session), backplane.log, lose)
    const text = record === undefined ? '' : this.#text(record)
    const writer = new SessionRecordWriter(session, text, epoch, {
      node,
      store: backplane.store,
      // Owners report activity every tenth of the idle time.
      ttlMs: Math.ceil(idleMs * 1.2) + limits.sessionGraceMs.default,
      onOwner: claimed => events.begin(claimed),
      onFenced: lose,
    })
    const owned = { writer, events, isAsserted: true }
    this.#owned.set(session, owned)
    return owned
  }

  #lose(session: string): void {
    if (!this.#owned.delete(session)) return
    this.#sessions?.drop(session)
    this.#host.onFenced?.()
  }

  #text(record: SessionRecord): string {
    const { address, path } = this.#host
    return storedSessionText({ address, path, record })
  }
}
