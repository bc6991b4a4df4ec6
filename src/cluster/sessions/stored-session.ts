import { isRecord } from '../../util/objects.ts'

/** A session as it is stored. */
export interface StoredSession {
  /** The address of the links of its owner, by which others find out whether the owner is gone. */
  readonly address: string
  /** The path at which it is served. */
  readonly path: string
  /** What another node needs to continue it. */
  readonly record: unknown
}

/** Returns the key of the record of a session, and of its event log. */
export function sessionKey(session: string): string {
  return `session ${session}`
}

/** Returns the name of the set of sessions that a node has. It may name some that the node has not. */
export function ownedSetOf(node: string): string {
  return `sessions of ${node}`
}

/** Returns the text that is stored for a session. */
export function storedSessionText(session: StoredSession): string {
  return JSON.stringify(session)
}

/** Reads the text that is stored for a session. Throws if it is not that of a session. */
export function readStoredSession(text: string): StoredSession {
  const stored: unknown = JSON.parse(text)
  if (
    !isRecord(stored) ||
    typeof stored.address !== 'string' ||
    typeof stored.path !== 'string' ||
    !isRecord(stored.record)
  ) {
    throw new Error('a stored session cannot be read: another program has written its record')
  }
  return { address: stored.address, path: stored.path, record: stored.record }
}
