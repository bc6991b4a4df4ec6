import type { HttpRequest, ReplyHeaders } from '../exchange.ts'
import { noHeaders } from './responses.ts'

/** What pages of allowed origins may do. */
export interface CorsOptions {
  /** Additional headers that such a page may send. */
  readonly allowedHeaders?: readonly string[]
  /** Time in seconds for which a browser may cache a preflight response. */
  readonly maxAgeSeconds?: number
}

/**
 * Returns the headers that let a page read the response; none for a client that is not a page. Called
 * only for origins that were accepted, so the origin is repeated rather than opened to all. Credentials
 * are never allowed.
 */
export function corsHeaders(request: HttpRequest): ReplyHeaders {
  const origin = request.header('origin')
  if (origin === undefined) return noHeaders
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers':
      'mcp-session-id, mcp-protocol-version, www-authenticate, dpop-nonce',
    vary: 'origin',
  }
}

/** Returns the headers of the response to a CORS preflight request. */
export function preflightHeaders(request: HttpRequest, options: CorsOptions): ReplyHeaders {
  const { allowedHeaders = [], maxAgeSeconds = 600 } = options
  const requested = request.header('access-control-request-headers') ?? ''
  // The names of mirrored arguments are chosen by the tools.
  const mirrored = requested
    .split(',')
    .map(name => name.trim().toLowerCase())
    .filter(name => /^mcp-param-[\w!#$%&'*+.^`|~-]+$/.test(name))
  return {
    ...corsHeaders(request),
    'access-control-allow-methods': 'POST, GET, DELETE, OPTIONS',
    'access-control-allow-headers': [...common, ...allowedHeaders, ...mirrored].join(', '),
    'access-control-max-age': String(maxAgeSeconds),
  }
}

const common = [
  'content-type',
  'accept',
  'authorization',
  'dpop',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'last-event-id',
  'traceparent',
  'tracestate',
]
