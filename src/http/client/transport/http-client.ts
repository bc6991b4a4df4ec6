import type { Message } from '../../../jsonrpc/message.ts'
import type { HttpHeaders, HttpRequestInfo } from '../options.ts'

/** One request as it is sent, without redirects. */
export interface OutgoingRequest extends HttpRequestInfo {
  /** The headers of the protocol, with names in lower case. */
  readonly headers: HttpHeaders
  /** The headers of the caller. Those of the protocol take precedence. */
  readonly added: HttpHeaders
  readonly body?: string
  readonly handle: AbortHandle
  /**
   * Whether the request is a notification, a reply or a DELETE, which are answered at once, so that
   * many of them may queue for few connections.
   */
  readonly isOneWay?: boolean
}

/** One HTTP request, including its redirects. */
export interface ClientRequest extends Omit<OutgoingRequest, 'added'> {
  /** The message in the body. */
  readonly message?: Message | readonly Message[]
  /**
   * Time in milliseconds in which the response headers must arrive; without it, until the request is
   * aborted.
   */
  readonly limitMs?: number
}

/**
 * Sends the requests of one channel to their origin. Rejects with the reason of the handle once that is
 * aborted, and otherwise with an error that `requestFailure` classifies.
 */
export interface HttpClient {
  send(request: OutgoingRequest): Promise<HttpResponse>
  /** Closes every connection. Nothing can be sent afterwards. */
  close(): void
}

/**
 * The response to one request: its head, and a body that is read by `whole` or `each`, or discarded.
 */
export interface HttpResponse {
  readonly status: number
  /** The reason phrase; often empty. */
  readonly statusText: string
  /** The IP address that sent the response, where that is known. */
  readonly remoteAddress?: string
  /** All headers, built on first access. */
  readonly headers: Headers
  /** Returns one header, by its name in lower case. */
  header(name: string): string | null
  /**
   * Returns the whole body, synchronously if it has arrived; undefined as soon as it exceeds
   * `maxBytes`, and the rest is discarded. Rejects when the body breaks off.
   */
  whole(maxBytes: number): Uint8Array | undefined | Promise<Uint8Array | undefined>
  /**
   * Passes the body to `take` in pieces as they arrive. A promise that `take` returns pauses the
   * reading until it settles. Resolves at the end of the body or once it is discarded; rejects when it
   * breaks off.
   */
  each(take: (piece: Uint8Array) => void | Promise<void>): Promise<void>
  /** Discards the rest of the body. Idempotent. */
  discard(): void
}

/** Whether the status is 2xx. */
export function isSuccess({ status }: HttpResponse): boolean {
  return status >= 200 && status < 300
}

/** Returns the media type of a response in lower case, without parameters. */
export function mediaType(response: HttpResponse): string {
  const type = response.header('content-type')
  // The spelling of nearly all servers.
  if (type === 'application/json' || type === 'text/event-stream') return type
  return (type ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/** Aborts one request, and the reading of its response. */
export class AbortHandle {
  #isAborted = false
  #reason: unknown
  /**
   * Called once when the handle is aborted. Set by the component that currently works on the request.
   */
  onAbort: (() => void) | undefined

  get isAborted(): boolean {
    return this.#isAborted
  }

  /** The reason given to `abort`. */
  get reason(): unknown {
    return this.#reason
  }

  /** Aborts the request. Idempotent: the first reason is kept. */
  abort(reason: unknown): void {
    if (this.#isAborted) return
    this.#isAborted = true
    this.#reason = reason
    this.onAbort?.()
    this.onAbort = undefined
  }
}
