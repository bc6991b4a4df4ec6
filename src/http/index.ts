export type { CorsOptions } from './cors.ts'
export type { EventLogOptions } from './event-log.ts'
export {
  type Closable,
  type FetchHandler,
  fetchHandler,
  type HttpHandlerOptions,
  nodeHandler,
} from './handlers.ts'
export type { NodeHandler } from './node.ts'
export type { HttpOptions } from './serve.ts'
export type { SessionsOptions } from './sessions.ts'
export type { SsePaths } from './sse.ts'
