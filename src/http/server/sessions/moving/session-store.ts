import type { SessionRecord } from './session-record.ts'
import type { StreamEvent } from './stream-event.ts'

/**
 * Keeps sessions for other processes, which can continue them. All methods are called for sessions of endpoints only
 * that have `attachSession`. None may throw; `opened` and `ended` may reject, and then nothing else happens here.
 */
export interface SessionStore {
  /** Called once, before anything else, with the sessions of the service. */
  attached?(sessions: MovableSessions): void
  /**
   * Called when `initialize` has succeeded. Its response waits for the promise. If it rejects, the session works in
   * this process as any other; the next `changed` has its whole record.
   */
  opened(id: string, record: SessionRecord): void | Promise<void>
  /** Called with the whole record when it has changed, once for all changes of a turn. */
  changed(id: string, record: SessionRecord): void
  /**
   * Called when the session has ended for its client: deleted, idle, evicted, or closed by its server. The response to
   * DELETE waits for the promise. Not called for sessions that can go on elsewhere when the service closes.
   */
  ended(id: string): void | Promise<void>
  /**
   * Called every tenth of the idle time for a session that was in use since: the client has sent something, or a
   * request or a stream is open. A record must be kept for the idle time and two tenths of it.
   */
  touched(id: string): void
  /** Called at the same time as an event is written, and when a stream begins or ends. */
  event(id: string, event: StreamEvent): void
}

/** The sessions of a service that can be moved to and from other processes. */
export interface MovableSessions {
  /**
   * Continues a session of another process, as if it had always been here, and reports its new record to the store as
   * a change. `record` and `events` are what the store got. `epoch` must be greater than those of the record and of the
   * events; by default it is one more. Requests that were in flight get the error that their outcome is unknown. Throws
   * a SessionMoveError.
   */
  restore(record: unknown, events?: Iterable<unknown>, epoch?: number): void
  /**
   * Removes a session from this process, for another one to restore. The streams of its client end, with the request
   * to reconnect. Its running tasks go on here. Throws a SessionMoveError.
   */
  release(id: string): ReleasedSession
  /**
   * Removes a session that another process has now: its requests are aborted, the streams of its client end as for
   * `release`, and nothing more is reported. Returns false if there is no such session.
   */
  drop(id: string): boolean
}

/** A session that has left its process. */
export interface ReleasedSession {
  readonly record: SessionRecord
  /** Everything that clients can still resume. It replaces the events that the store has got. */
  readonly events: readonly StreamEvent[]
}
