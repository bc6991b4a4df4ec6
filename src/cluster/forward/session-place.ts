/** Where a session is. */
export type SessionPlace =
  /** Another node owns it. */
  | { readonly at: 'node'; readonly node: string; readonly address: string }
  /** This process owns it. */
  | { readonly at: 'here' }
  /** It does not exist, or has ended. */
  | { readonly at: 'nowhere' }
  /** Its owner cannot be found out at present. */
  | { readonly at: 'unknown' }

/** The places that are the same for every session. */
export const places = {
  here: { at: 'here' },
  nowhere: { at: 'nowhere' },
  unknown: { at: 'unknown' },
} as const satisfies Record<string, SessionPlace>

/** Finds the owners of sessions. */
export interface SessionFinder {
  /** Finds the node that owns a session. Adopts the session where its owner is gone. */
  find(session: string): SessionPlace | Promise<SessionPlace>
  /** Records that a node does not have the session, so that it is looked up next time. */
  wasNotAt(session: string, node: string): void
  /** Records that a node could not be reached. */
  suspect(node: string): void
  /** Whether a node has ended in good order: it has executed nothing that it did not answer. */
  hasDrained(node: string): boolean
}
