import type { Principal } from '../../../../jsonrpc/channel.ts'
import type { SessionState } from '../../../../mcp/endpoint.ts'
import { isLogLevel } from '../../../../mcp/types/logging.ts'
import { isRecord } from '../../../../util/objects.ts'
import { SessionMoveError } from './session-move-error.ts'

/**
 * What another process needs, beside the events of its streams, to continue a session over HTTP. Plain JSON. Members
 * that are not known here stay in the record.
 */
export interface SessionRecord {
  /** The version of this format. A process does not continue a session with another one. */
  readonly version: 1
  /** The id of the session, which is a secret of its client. */
  readonly id: string
  /** The epoch of the process that has the session: 0 for the one that opened it, and greater for each after it. */
  readonly epoch: number
  /**
   * Whether another process can continue the session: false while its process has something for it that no other can
   * have. Such a session ends with its process.
   */
  readonly isMovable: boolean
  /** The caller that opened the session. */
  readonly principal?: Principal
  /** The name under which the session counts for the limits of its principal or its client address. */
  readonly owner?: string
  /** What the ids of its events begin with; absent where streams cannot be resumed. */
  readonly eventPrefix?: string
  /** The state of the session at its endpoint. */
  readonly state: SessionState
}

/** A session record, and its members that are not known here. */
export interface ReadRecord {
  readonly record: SessionRecord
  readonly others: Readonly<Record<string, unknown>>
}

/** Checks a record that was stored. Throws a SessionMoveError that names what is wrong with it. */
export function readSessionRecord(value: unknown): ReadRecord {
  if (!isRecord(value)) throw new SessionMoveError('invalid', 'the session record is not an object')
  const { version, id, epoch, isMovable, principal, owner, eventPrefix, state, ...others } = value
  if (version !== 1) {
    const what = `the session record has the version ${JSON.stringify(version)}; this process reads version 1`
    throw new SessionMoveError('unsupported', what)
  }
  const checks: Readonly<Record<string, boolean>> = {
    id: typeof id === 'string' && /^[\x21-\x7e]+$/.test(id),
    epoch: Number.isSafeInteger(epoch) && (epoch as number) >= 0,
    isMovable: typeof isMovable === 'boolean',
    principal: principal === undefined || (isRecord(principal) && typeof principal.id === 'string'),
    owner: owner === undefined || typeof owner === 'string',
    eventPrefix:
      eventPrefix === undefined ||
      (typeof eventPrefix === 'string' && /^[0-9a-f]{16}$/.test(eventPrefix)),
    state: isState(state),
  }
  const wrong = Object.keys(checks).filter(name => checks[name] === false)
  if (wrong.length > 0) {
    throw new SessionMoveError(
      'invalid',
      `the session record has an invalid "${wrong.join('", "')}"`,
    )
  }
  // The check: all members were checked above, and client info is shown only.
  const record = value as unknown as SessionRecord
  return { record, others }
}

function isState(value: unknown): value is SessionState {
  return (
    isRecord(value) &&
    typeof value.revision === 'string' &&
    isRecord(value.capabilities) &&
    (value.client === undefined || isRecord(value.client)) &&
    (value.logLevel === undefined || isLogLevel(value.logLevel)) &&
    typeof value.isReady === 'boolean' &&
    Array.isArray(value.subscriptions) &&
    value.subscriptions.every(uri => typeof uri === 'string') &&
    typeof value.taskKey === 'string'
  )
}
