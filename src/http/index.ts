export type { PathHandler } from './beside.ts'
export type {
  HttpClientOptions,
  HttpHeaders,
  HttpRequestInfo,
  StreamRetry,
} from './client/options.ts'
export type { GivenRequest, HttpOutboundOptions } from './exchange.ts'
export {
  type Closable,
  type FetchHandler,
  fetchHandler,
  type HttpHandlerOptions,
  nodeHandler,
} from './handlers.ts'
export type { NodeHandler } from './node/handler.ts'
export type { HttpServerOptions, HttpTimeouts } from './node/server.ts'
export type { CorsOptions } from './server/cors.ts'
export type { SsePaths } from './server/http-sse/endpoints.ts'
export type { HttpOptions } from './server/options.ts'
export type { EventLogOptions } from './server/sessions/event-log.ts'
export type { SessionLimits } from './server/sessions/session-table.ts'
export type { SessionsOptions } from './server/sessions/sessions.ts'
