import type { Envelope } from '../../jsonrpc/channel.ts'
import type { Exchange } from '../../jsonrpc/handler.ts'
import type { Id, RpcRequest } from '../../jsonrpc/message.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { ClientCapabilities, Members } from '../../mcp/types/base.ts'

/**
 * Where a client can be opened up: for whoever passes on what others say, and can neither answer the
 * questions of a server itself nor know beforehand what may be asked.
 */
export interface Seams {
  /** What is declared, instead of what there are handlers for. */
  capabilities(revision: Revision): ClientCapabilities
  /** Answers a request of a server in a session, whatever it is. */
  onRequest(request: RpcRequest, exchange: Exchange): unknown
  /** Told every notification, with what came beside it. */
  onNotification(method: string, params: Members | undefined, envelope: Envelope): void
  /** A connection has ended by itself, be it one that was being opened. Told before it is cleared away. */
  onEnded?(cause: Error | undefined): void
  /** The reply to a request has come that nobody waited for any more; without a result where it failed. */
  onLate?(id: Id, result?: unknown): void
}
