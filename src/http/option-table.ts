import { decodeTable } from '../jsonrpc/option-table.ts'
import type { OptionTableOf } from '../util/options.ts'
import type { HttpClientOptions, StreamRetry } from './client/options.ts'
import type { HttpOutboundOptions } from './exchange.ts'
import type { HttpServerOptions } from './node/server.ts'
import type { CorsOptions } from './server/cors.ts'
import type { SsePaths } from './server/http-sse/endpoints.ts'
import type { HttpOptions } from './server/options.ts'
import type { EventLogOptions } from './server/sessions/event-log.ts'
import type { SessionsOptions } from './server/sessions/sessions.ts'

const events: OptionTableOf<EventLogOptions> = {
  maxStreamEvents: 'max',
  maxStreamBytes: 'max',
  maxBytes: 'max',
  maxAgeMs: 'maxMs',
}

const sessions: OptionTableOf<SessionsOptions> = {
  maxSessions: 'max',
  maxSessionsPerPrincipal: 'max',
  maxSessionsPerAddress: 'max',
  idleMs: 'ms',
  initializeTimeoutMs: 'ms',
  evictableMs: 'ms',
  resumable: 'boolean',
  events,
  retryMs: 'ms',
  makeId: 'function',
  clock: 'object',
  store: 'object',
}

const cors: OptionTableOf<CorsOptions> = { allowedHeaders: 'strings', maxAgeSeconds: 'count' }
const sse: OptionTableOf<SsePaths> = { events: 'string', messages: 'string' }

/** Table of `HttpOptions`, for `checkOptions`. */
export const httpTable: OptionTableOf<HttpOptions> = {
  auth: 'object',
  path: 'string',
  decode: decodeTable,
  maxInFlight: 'max',
  keepAliveMs: 'ms',
  cors,
  sessions,
  sessionless: 'boolean',
  sse,
  onError: 'function',
  allowedHosts: 'strings',
  allowedOrigins: 'strings',
}

/** Table of `OutboundOptions`, for `checkOptions`. */
export const outboundTable: OptionTableOf<HttpOutboundOptions> = {
  highWaterBytes: 'count',
  maxOutboundBytes: 'max',
  stallMs: 'ms',
}

/** Table of `HttpServerOptions`, for `checkOptions`. */
export const httpServerTable: OptionTableOf<HttpServerOptions> = {
  parser: 'string',
  headersTimeoutMs: 'ms',
  requestTimeoutMs: 'ms',
  idleTimeoutMs: 'ms',
}

const retry: OptionTableOf<StreamRetry> = {
  attempts: 'count',
  baseMs: 'ms',
  maxMs: 'maxMs',
  random: 'function',
}

/** Table of `HttpClientOptions`, for `checkOptions`. */
export const httpClientTable: OptionTableOf<HttpClientOptions> = {
  // An object, or a function that returns one.
  headers: 'any',
  auth: 'object',
  fetch: 'function',
  decode: decodeTable,
  maxEventBytes: 'max',
  maxOpenRequests: 'max',
  acceptTimeoutMs: 'ms',
  bodyTimeoutMs: 'ms',
  closeTimeoutMs: 'ms',
  retry,
  ca: 'string',
  clock: 'object',
  onError: 'function',
}
