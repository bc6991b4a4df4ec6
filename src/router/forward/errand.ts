import type { Progress } from '../../client/requests/progress.ts'
import type { Exchange } from '../../jsonrpc/handler.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { InputRequest } from '../../mcp/types/input.ts'

/** A call of somebody's on its way to a server, as the connection that carries it sees it. */
export interface Errand {
  /**
   * Whose it is: that of a session, or nobody's but its own. What a server says without naming a call is
   * passed on only where all calls of the connection have the same owner.
   *
   * Stateless calls have no owner in common, not even those of one principal or of one connection. A
   * principal says who may see a question, not which call it is asked for: it may be several programs,
   * one of which answers by itself, and a yes to what another call wants to do is worse than a refusal.
   * Over one connection somebody else's router may be passing on the calls of many.
   */
  readonly owner: unknown
  /** Puts a question of the server to the caller. Absent where nobody can be asked. */
  readonly ask?: (question: InputRequest, signal: AbortSignal) => Promise<unknown>
  /** Told how far the call has come. Absent where the caller does not want to know. */
  readonly onProgress?: (progress: Progress) => void
  /** Given the log messages of the call. */
  readonly onLog?: (params: Members) => void
  /** Where it stands among those of its connection, which is nobody else's business. */
  place?: Place
}

/** Where a call stands among those of its connection. */
export interface Place {
  readonly errand: Errand
  /** The calls of that connection. */
  readonly among: { delete(errand: Errand): boolean }
  previous: Place | undefined
  next: Place | undefined
}

/** What tells that nobody waits for a call any more: an exchange, or a signal alone. */
export type Abort = Pick<Exchange, 'signal' | 'onAbort'>

/** How a call is sent. */
export interface SendOptions {
  readonly abort: Abort
  /** How long without a sign of life; 0 for ever. */
  readonly timeoutMs: number
  /** What a stateless server is told of whoever calls, as members of `_meta`. */
  readonly sender?: object
  /** Whether members of the result may stay the text they came as. */
  readonly takesWritten?: boolean
}
