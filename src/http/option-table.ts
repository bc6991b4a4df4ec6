import { decodeTable } from '../jsonrpc/option-table.ts'
import type { OptionTableOf } from '../util/options.ts'
import type { HttpClientOptions, StreamRetry } from './client/options.ts'
import type { OutboundOptions } from './exchange.ts'
import type { HttpTimeouts } from './node/server.ts'
import type { CorsOptions } from './server/cors.ts'
import type { SsePaths } from './server/http-sse/endpoints.ts'
import type { HttpOptions } from './server/service.ts'
import type { EventLogOptions } from './server/sessions/event-log.ts'
import type { SessionsOptions } from './server/sessions/sessions.ts'

const events: OptionTableOf<EventLogOptions> = {
  maxStreamEvents: 'most',
  maxStreamBytes: 'most',
  maxBytes: 'most',
  maxAgeMs: 'longestMs',
}

const sessions: OptionTableOf<SessionsOptions> = {
  maxSessions: 'most',
  maxSessionsPerPrincipal: 'most',
  idleMs: 'ms',
  openingMs: 'ms',
  spareMs: 'ms',
  resumable: 'flag',
  events,
  retryMs: 'ms',
  makeId: 'function',
  clock: 'object',
}

const cors: OptionTableOf<CorsOptions> = { allowedHeaders: 'texts', maxAgeSeconds: 'count' }
const sse: OptionTableOf<SsePaths> = { events: 'text', messages: 'text' }

/** The options of serving over HTTP, to check what callers have written. */
export const httpTable: OptionTableOf<HttpOptions> = {
  path: 'text',
  decode: decodeTable,
  maxInFlight: 'most',
  keepAliveMs: 'ms',
  cors,
  sessions,
  sessionless: 'flag',
  sse,
  onError: 'function',
  allowedHosts: 'texts',
  allowedOrigins: 'texts',
}

/** The options of what waits to be sent, to check what callers have written. */
export const outboundTable: OptionTableOf<OutboundOptions> = {
  highWaterBytes: 'count',
  maxOutboundBytes: 'most',
  stallMs: 'ms',
}

/** How long requests may take, to check what callers have written. */
export const timeoutsTable: OptionTableOf<HttpTimeouts> = {
  headersTimeoutMs: 'ms',
  requestTimeoutMs: 'ms',
  idleTimeoutMs: 'ms',
}

const retry: OptionTableOf<StreamRetry> = {
  attempts: 'count',
  baseMs: 'ms',
  maxMs: 'longestMs',
  random: 'function',
}

/** The options of a client over HTTP, to check what callers have written. */
export const httpClientTable: OptionTableOf<HttpClientOptions> = {
  // An object, or a function that makes one.
  headers: 'any',
  fetch: 'function',
  decode: decodeTable,
  maxEventBytes: 'most',
  maxOpenRequests: 'most',
  acceptMs: 'ms',
  bodyMs: 'ms',
  farewellMs: 'ms',
  retry,
  clock: 'object',
  onError: 'function',
}
