import type { Envelope } from '../../jsonrpc/channel.ts'
import type { Exchange } from '../../jsonrpc/handler.ts'
import type { Id, RpcRequest } from '../../jsonrpc/message.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { ClientCapabilities, Members } from '../../mcp/types/base.ts'

/**
 * Hooks by which a proxy, such as the router, takes over parts of a client: a proxy forwards server
 * requests instead of handling them, and does not know beforehand which ones its callers support.
 */
export interface ProxyHooks {
  /** Returns the capabilities to declare, instead of those derived from the handlers in the options. */
  capabilities(revision: Revision): ClientCapabilities
  /** Handles every request of a server in a session, except `ping`, and returns its result. */
  onRequest(request: RpcRequest, exchange: Exchange): unknown
  /** Called with every notification and its envelope. */
  onNotification(method: string, params: Members | undefined, envelope: Envelope): void
  /** A connection was lost, perhaps one that was still being opened. Called before it is cleaned up. */
  onLost?(cause: Error | undefined): void
  /** A response arrived for a request that was abandoned; `result` is undefined if the request failed. */
  onLate?(id: Id, result?: unknown): void
}
