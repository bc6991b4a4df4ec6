/**
 * Why a stream or a request failed.
 *
 * `refused`: it certainly never reached the other node. `lost`: it was sent, then the link ended, so the outcome is
 * unknown. `reset`: the other node ended it; the message is the reason it gave. `closed`: the links of this node were
 * closed before it was sent. `too-many`: the link has no room for a further one; it was not sent.
 */
export type LinkErrorCode = 'refused' | 'lost' | 'reset' | 'closed' | 'too-many'

/** A stream or a request between two nodes that failed. */
export class LinkError extends Error {
  /** Why it failed, and whether it can have reached the other node. */
  readonly code: LinkErrorCode

  constructor(code: LinkErrorCode, message: string) {
    super(message)
    this.name = 'LinkError'
    this.code = code
  }
}
