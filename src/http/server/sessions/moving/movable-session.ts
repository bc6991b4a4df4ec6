import type { Principal } from '../../../../jsonrpc/channel.ts'
import type { SessionAttachment } from '../../../../mcp/endpoint.ts'
import { SessionMoveError } from './session-move-error.ts'
import type { ReadRecord, SessionRecord } from './session-record.ts'

/** What the record of a session takes from its transport. */
export interface MovableSessionHost {
  readonly id: string
  readonly principal: Principal | undefined
  /** What the ids of its events begin with; undefined where streams cannot be resumed. */
  readonly eventPrefix: string | undefined
}

/** The part of a session that another process can continue. */
export class MovableSession {
  readonly #host: MovableSessionHost
  readonly #attachment: SessionAttachment
  /** The record with which the session was restored. */
  readonly #origin: ReadRecord | undefined
  /** Whether the client may have missed changes while the session was moved. */
  #missesChanges: boolean

  constructor(
    host: MovableSessionHost,
    attachment: SessionAttachment,
    origin: ReadRecord | undefined,
  ) {
    this.#host = host
    this.#attachment = attachment
    this.#origin = origin
    this.#missesChanges = origin !== undefined
  }

  /** Whether another process can continue the session as it is now. */
  get isMovable(): boolean {
    return this.#attachment.isMovable
  }

  /** Returns what another process needs to continue the session; undefined before `initialize` has succeeded. */
  record(owner: string | undefined): SessionRecord | undefined {
    const state = this.#attachment.state()
    if (state === undefined) return undefined
    const { id, principal, eventPrefix } = this.#host
    return {
      ...this.#origin?.others,
      version: 1,
      id,
      epoch: this.#origin?.record.epoch ?? 0,
      isMovable: this.isMovable,
      ...(principal !== undefined && { principal }),
      ...(owner !== undefined && { owner }),
      ...(eventPrefix !== undefined && { eventPrefix }),
      state,
    }
  }

  /** Throws a SessionMoveError if the session cannot be moved now. */
  check(hasRequests: boolean): void {
    if (!this.isMovable) {
      throw new SessionMoveError('bound', 'the session has a connection of its own in this process')
    }
    if (hasRequests || this.#attachment.pendingCalls > 0) {
      throw new SessionMoveError('busy', 'the session has requests in flight; try again later')
    }
  }

  /** Notifies the client, once after a move, of every change that it may have missed. */
  notifyOfChanges(): void {
    if (!this.#missesChanges) return
    this.#missesChanges = false
    this.#attachment.notifyAll()
  }
}
