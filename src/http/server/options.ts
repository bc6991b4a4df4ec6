import type { DecodeOptions } from '../../jsonrpc/codec/decode-rules.ts'
import type { Authenticator } from '../../mcp/authenticator.ts'
import type { OriginPolicy } from '../../util/origin.ts'
import type { CorsOptions } from './cors.ts'
import type { SsePaths } from './http-sse/endpoints.ts'
import type { RemoteSessions } from './remote-sessions.ts'
import type { SessionsOptions } from './sessions/sessions.ts'

/** Options of serving over HTTP. */
export interface HttpOptions extends Pick<OriginPolicy, 'allowedHosts' | 'allowedOrigins'> {
  /** The only path that is served, such as `/mcp`; by default every path. */
  readonly path?: string
  /** Limits and rules for decoding the messages of clients. */
  readonly decode?: DecodeOptions
  /** Maximum number of requests in flight. Further requests get 503. */
  readonly maxInFlight?: number
  /** Time in milliseconds after which a comment is sent on a silent event stream to keep it open. */
  readonly keepAliveMs?: number
  /** What pages of allowed origins may do; with `false` no page can read a response. */
  readonly cors?: CorsOptions | false
  /** Limits on sessions, and how many events are kept for clients that reconnect. */
  readonly sessions?: SessionsOptions
  /** Whether requests of the session revisions are served even if they belong to no session. */
  readonly sessionless?: boolean
  /** The two paths of the HTTP+SSE transport (2024-11-05); `false` switches it off. */
  readonly sse?: SsePaths | false
  /** Authenticates callers; see `authenticator` of `trunkline/auth`. */
  readonly auth?: Authenticator
  /** Called with internal errors, whose details no client gets. */
  readonly onError?: (error: unknown) => void
}

/** Options that a listener sets itself. */
export interface HttpListenerOptions extends HttpOptions {
  /**
   * Whether the listener accepts WebSockets on the same path, which it confirms to clients that ask.
   */
  readonly hasWebSockets?: boolean
  /** Serves the requests of sessions that other nodes own. */
  readonly remote?: RemoteSessions | undefined
}
