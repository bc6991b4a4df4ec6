import {
  type DecodeOptions,
  type DecodeRules,
  decodeRules,
  withMaxBytes,
} from '../../jsonrpc/codec/decode-rules.ts'
import { guarded } from '../../jsonrpc/peer/options.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import type { Traffic } from '../../util/traffic.ts'

/** Headers by their names. */
export type HttpHeaders = Readonly<Record<string, string>>

/** What a request over HTTP is about to do, for whoever adds headers to it. */
export interface HttpAsking {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly url: URL
}

/** How event streams that broke off are opened again. */
export interface StreamRetry {
  /** How often in a row. */
  readonly attempts?: number
  /** The wait before the first attempt where the server names none; doubled for each further one. */
  readonly baseMs?: number
  /** The longest wait, whatever the server says. */
  readonly maxMs?: number
  /** Between 0 and 1: which part of the second half of the wait is waited. */
  readonly random?: () => number
}

/** How a client speaks HTTP. Every limit left out has the default of `docs/limits.md`. */
export interface HttpClientOptions {
  /** Sent with every request; as a function, asked before each. The protocol's own headers win. */
  readonly headers?: HttpHeaders | ((asking: HttpAsking) => HttpHeaders | Promise<HttpHeaders>)
  /**
   * Used for every request instead of connections of our own, for a proxy or a certificate of one's own
   * choice. Must not follow redirects by itself. Where there is no Node it is the global one.
   */
  readonly fetch?: (url: URL, init: RequestInit) => Promise<Response>
  /** `maxBytes` bounds a whole body, and one event unless that has a limit of its own. */
  readonly decode?: DecodeOptions
  readonly maxEventBytes?: number
  readonly maxOpenRequests?: number
  readonly acceptMs?: number
  readonly bodyMs?: number
  readonly farewellMs?: number
  readonly retry?: StreamRetry
  readonly clock?: Clock
  /**
   * Told what no caller can be told: messages that were not accepted, streams that could not be kept
   * open, tools that had to be left out. By default on stderr.
   */
  readonly onError?: (error: unknown) => void
}

/** The options with every default in its place. */
export interface HttpSettings {
  readonly headers: (asking: HttpAsking) => HttpHeaders | Promise<HttpHeaders>
  readonly fetch: ((url: URL, init: RequestInit) => Promise<Response>) | undefined
  readonly rules: DecodeRules
  /** The rules for one event. */
  readonly eventRules: DecodeRules
  readonly maxOpenRequests: number
  readonly acceptMs: number
  readonly bodyMs: number
  readonly farewellMs: number
  readonly retry: Required<StreamRetry>
  readonly clock: Clock
  readonly onError: (error: unknown) => void
  /** Told, where it is asked at all, whether the server takes WebSockets at the same address. */
  readonly onOffer?: (isOffered: boolean) => void
  /** Counts what passes, over connections of our own. */
  readonly traffic?: Traffic
}

/** Puts the defaults in. */
export function httpSettings(options: HttpClientOptions): HttpSettings {
  const { headers = {}, retry = {}, onError = printError } = options
  const eventBytes = options.maxEventBytes ?? options.decode?.maxBytes
  return {
    headers: typeof headers === 'function' ? headers : () => headers,
    fetch: options.fetch,
    rules: decodeRules(withMaxBytes(options.decode, limits.httpMessageBytes.default)),
    eventRules: decodeRules({
      ...options.decode,
      maxBytes: eventBytes ?? limits.sseMessageBytes.default,
    }),
    maxOpenRequests: options.maxOpenRequests ?? limits.httpOpenRequests.default,
    acceptMs: options.acceptMs ?? limits.httpAcceptMs.default,
    bodyMs: options.bodyMs ?? limits.httpBodyMs.default,
    farewellMs: options.farewellMs ?? limits.httpFarewellMs.default,
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

function printError(error: unknown): void {
  console.error('trunkline client:', error)
}
