import type { Caller } from '../mcp/caller.ts'
import type { LogLevel } from '../mcp/types/base.ts'
import type { Root } from '../mcp/types/roots.ts'

/** A session of a client, in the revisions that have sessions: from `initialize` until the connection closes. */
export interface Session {
  /**
   * Identifies the session in this process. It is not the session id of HTTP, which is a secret of the
   * client.
   */
  readonly id: string
  /** The client, once `initialize` has succeeded. */
  readonly caller: Caller | undefined
  /** The URIs of the resources that the client has subscribed to. */
  readonly subscriptions: ReadonlySet<string>
  /** Settles when the connection has closed; with the error if it did not close normally. */
  readonly closed: Promise<Error | undefined>
  /**
   * Requests the roots of the client: the folders that it works in. Handlers use `ctx.roots()`, which works
   * in every revision; this is for listeners of `ready` and `roots`. Rejects with an RpcError where the
   * client does not support roots.
   */
  roots(): Promise<readonly Root[]>
  /** Sends a log message to the client, if it wants messages of this level. */
  log(level: LogLevel, data: unknown, logger?: string): void
  /** Sends a notification to the client. Drops it where the connection is closed. */
  notify(method: string, params?: object): void
}
