/**
 * Why a session was not restored or released.
 * - `invalid`: the record is damaged, or the epoch is not greater than all before.
 * - `unsupported`: this process cannot continue it, because of its version or protocol revision, or its endpoint.
 * - `bound`: the process that has it has something for it that no other can have.
 * - `exists`: this process has the session already.
 * - `full`: a limit of this process is reached.
 * - `closing`: the service is closing.
 * - `busy`: a request or a server request is in flight.
 * - `unknown`: this process has no such session, or its store does not keep it.
 */
export type SessionMoveErrorCode =
  | 'invalid'
  | 'unsupported'
  | 'bound'
  | 'exists'
  | 'full'
  | 'closing'
  | 'busy'
  | 'unknown'

/** A session could not be restored or released. Nothing has changed. */
export class SessionMoveError extends Error {
  readonly code: SessionMoveErrorCode

  constructor(code: SessionMoveErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'SessionMoveError'
    this.code = code
  }
}
