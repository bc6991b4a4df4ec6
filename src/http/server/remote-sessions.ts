import type { HttpReply, HttpRequest } from '../exchange.ts'

/** Serves the requests of sessions that this process does not have, because another node owns them. */
export interface RemoteSessions {
  /** Whether this process may act for a session that it has: not if another node may have adopted it. */
  mayServe(session: string): boolean
  /**
   * Serves an authenticated request of a session which is not in this process, or for which it may not act. `onSettled` is called when
   * the response is complete, or the client has disconnected.
   */
  serve(session: string, exchange: RemoteExchange): void
}

/** A request of a session that is not in this process, and its response. */
export interface RemoteExchange {
  readonly request: HttpRequest
  readonly reply: HttpReply
  /** The body of a POST, which has not been decoded. */
  readonly body?: Uint8Array | undefined
  onSettled(): void
}
