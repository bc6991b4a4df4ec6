import {
  type DecodeOptions,
  type DecodeRules,
  decodeRules,
  withMaxBytes,
} from '../../jsonrpc/codec/decode-rules.ts'
import { guarded } from '../../jsonrpc/peer/options.ts'
import type { Credentials } from '../../mcp/credentials.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import type { Traffic } from '../../util/traffic.ts'

/** Headers by their names. */
export type HttpHeaders = Readonly<Record<string, string>>

/** The request that the function `headers` makes headers for. */
export interface HttpRequestInfo {
  /** The HTTP method. */
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** The address. */
  readonly url: URL
}

/** How event streams that broke off are reopened. */
export interface StreamRetry {
  /** Maximum number of attempts in a row. */
  readonly attempts?: number
  /**
   * Delay before the first attempt in milliseconds, where the server names none; doubled for each
   * further attempt.
   */
  readonly baseMs?: number
  /** Maximum delay in milliseconds, whatever the server asks for. */
  readonly maxMs?: number
  /**
   * Returns a number from 0 to 1, the jitter: the part of the second half of the delay that is waited.
   */
  readonly random?: () => number
}

/** Options of an HTTP client. A limit that is left out has the default of `docs/limits.md`. */
export interface HttpClientOptions {
  /**
   * Headers of every request; a function is called before each. The headers of the protocol take
   * precedence.
   */
  readonly headers?: HttpHeaders | ((info: HttpRequestInfo) => HttpHeaders | Promise<HttpHeaders>)
  /** Authorizes every request. The headers must not have `authorization` then. */
  readonly auth?: Credentials
  /**
   * Used for every request instead of the client's own connections, for example for a proxy or a
   * private certificate. Must not follow redirects. Without Node the default is the global `fetch`.
   */
  readonly fetch?: (url: URL, init: RequestInit) => Promise<Response>
  /** `maxBytes` limits a whole body, and one event unless `maxEventBytes` does. */
  readonly decode?: DecodeOptions
  /** The greatest size of one event. */
  readonly maxEventBytes?: number
  /** How many requests may be open at a time; a further one rejects. */
  readonly maxOpenRequests?: number
  /** How long the server may take to accept a notification or a response, in milliseconds. */
  readonly acceptTimeoutMs?: number
  /** How long a body may make no progress, in milliseconds. */
  readonly bodyTimeoutMs?: number
  /** How long closing the session may take, in milliseconds. */
  readonly closeTimeoutMs?: number
  /** How event streams that broke off are reopened. */
  readonly retry?: StreamRetry
  /**
   * The certificates of authorities to trust, as PEM, instead of those that Node.js trusts. Not with
   * `fetch`, which has settings of its own.
   */
  readonly ca?: string
  /** The clock for timeouts; for tests. */
  readonly clock?: Clock
  /**
   * Called with errors that belong to no call: messages that were not accepted, streams that could not
   * be kept open, tools that were left out. Printed on stderr by default.
   */
  readonly onError?: (error: unknown) => void
}

/** HttpClientOptions with all defaults filled in. */
export interface HttpSettings {
  readonly headers: (info: HttpRequestInfo) => HttpHeaders | Promise<HttpHeaders>
  readonly auth: Credentials | undefined
  readonly fetch: ((url: URL, init: RequestInit) => Promise<Response>) | undefined
  readonly rules: DecodeRules
  /** The decode rules of one event. */
  readonly eventRules: DecodeRules
  readonly maxOpenRequests: number
  readonly acceptTimeoutMs: number
  readonly bodyTimeoutMs: number
  readonly closeTimeoutMs: number
  readonly retry: Required<StreamRetry>
  readonly ca: string | undefined
  readonly clock: Clock
  readonly onError: (error: unknown) => void
  /**
   * If given, `server/discover` asks whether the server accepts WebSockets at the same address, and
   * this is called with the answer.
   */
  readonly onWebSocketOffer?: (isOffered: boolean) => void
  /** Counts the bytes on the client's own connections. */
  readonly traffic?: Traffic
}

/** Fills in the defaults. Throws a TypeError for headers that authorize requests beside `auth`. */
export function httpSettings(options: HttpClientOptions): HttpSettings {
  const { headers = {}, auth, retry = {}, onError = printError } = options
  if (auth !== undefined && typeof headers !== 'function' && namesAuthorization(headers))
    throw new TypeError(twoAuthorizations)
  const eventBytes = options.maxEventBytes ?? options.decode?.maxBytes
  return {
    headers: typeof headers === 'function' ? headers : () => headers,
    auth,
    fetch: options.fetch,
    ca: options.ca,
    rules: decodeRules(withMaxBytes(options.decode, 'http', limits.httpMessageBytes.default)),
    eventRules: decodeRules({
      ...options.decode,
      maxBytes: eventBytes ?? limits.sseMessageBytes.default,
    }),
    maxOpenRequests: options.maxOpenRequests ?? limits.httpOpenRequests.default,
    acceptTimeoutMs: options.acceptTimeoutMs ?? limits.httpAcceptMs.default,
    bodyTimeoutMs: options.bodyTimeoutMs ?? limits.httpBodyMs.default,
    closeTimeoutMs: options.closeTimeoutMs ?? limits.httpCloseMs.default,
    retry: {
      attempts: retry.attempts ?? limits.streamReconnects.default,
      baseMs: retry.baseMs ?? limits.reconnectMs.default,
      maxMs: retry.maxMs ?? limits.reconnectMaxMs.default,
      random: retry.random ?? Math.random,
    },
    clock: options.clock ?? systemClock,
    onError: guarded(onError),
  }
}

/** Whether headers authorize a request. */
export function namesAuthorization(headers: HttpHeaders): boolean {
  return Object.keys(headers).some(name => /^(?:authorization|dpop)$/i.test(name))
}

/** The message for headers that authorize a request which credentials authorize too. */
export const twoAuthorizations =
  'the headers contain "authorization" although option "auth" is given; use one of the two'

function printError(error: unknown): void {
  console.error('trunkline client:', error)
}
