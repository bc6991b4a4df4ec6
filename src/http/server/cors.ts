import type { HttpRequest, ReplyHeaders } from '../exchange.ts'
import { noHeaders } from './sse-keep-alive.ts'

/** What pages of allowed origins may do. */
export interface CorsOptions {
  /** Further headers such a page may send. */
  readonly allowedHeaders?: readonly string[]
  /** How long a browser may keep the leave it was given. */
  readonly maxAgeSeconds?: number
}

/**
 * The headers that let a page read the answer; none for who is no page. Asked only for origins that
 * were let in, so the origin is repeated rather than opened to all; credentials are never allowed.
 */
export function corsHeaders(request: HttpRequest): ReplyHeaders {
  const origin = request.header('origin')
  if (origin === undefined) return noHeaders
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'mcp-session-id, mcp-protocol-version, www-authenticate',
    vary: 'origin',
  }
}

/** The answer to a browser that asks what a page may do. */
export function preflightHeaders(request: HttpRequest, options: CorsOptions): ReplyHeaders {
  const { allowedHeaders = [], maxAgeSeconds = 600 } = options
  const asked = request.header('access-control-request-headers') ?? ''
  // Mirrored arguments have names of their own choosing.
  const mirrored = asked
    .split(',')
    .map(name => name.trim().toLowerCase())
    .filter(name => /^mcp-param-[\w!#$%&'*+.^`|~-]+$/.test(name))
  return {
    ...corsHeaders(request),
    'access-control-allow-methods': 'POST, GET, DELETE, OPTIONS',
    'access-control-allow-headers': [...usual, ...allowedHeaders, ...mirrored].join(', '),
    'access-control-max-age': String(maxAgeSeconds),
  }
}

const usual = [
  'content-type',
  'accept',
  'authorization',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'last-event-id',
  'traceparent',
  'tracestate',
]
