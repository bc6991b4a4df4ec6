import type { Message } from '../../jsonrpc/message.ts'
import { webSocketWire, wireHeader } from '../header-fields.ts'
import { SessionHeaders, statelessHeaders, statelessVersion } from './headers.ts'
import type { HttpSettings } from './options.ts'
import { AnnotatedTools } from './param-headers.ts'
import { Authorization } from './transport/authorization.ts'
import type { AbortHandle, HttpResponse } from './transport/http-client.ts'
import { RedirectingClient } from './transport/redirects.ts'

/**
 * The HTTP endpoint of one channel: its URL, the headers of each message, and the client that sends
 * them.
 */
export class HttpEndpoint {
  readonly url: URL
  readonly settings: HttpSettings
  readonly tools = new AnnotatedTools()
  readonly session = new SessionHeaders()
  /** Authorizes the requests; undefined without credentials. */
  readonly authorization: Authorization | undefined
  readonly #client: RedirectingClient
  /** The URL for messages that a server of the HTTP+SSE transport has named. */
  #messagesUrl: URL | undefined

  constructor(url: URL, settings: HttpSettings) {
    this.url = url
    this.settings = settings
    const { auth } = settings
    this.authorization = auth && new Authorization(auth, url, settings)
    this.#client = new RedirectingClient(settings, this.authorization)
  }

  /** Whether messages are posted to another URL than the event stream, as with HTTP+SSE. */
  get isHttpSse(): boolean {
    return this.#messagesUrl !== undefined
  }

  /** Posts all further messages to this URL. */
  moveTo(endpoint: URL): void {
    this.#messagesUrl = endpoint
  }

  /** Posts a message. Without `limitMs` the response may take any time. */
  post(
    message: Message | readonly Message[],
    body: string,
    handle: AbortHandle,
    limitMs?: number,
  ): Promise<HttpResponse> {
    const headers = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...this.#headersFor(message),
    }
    const url = this.#messagesUrl ?? this.url
    const isOneWay = limitMs !== undefined
    return this.#client.send({
      method: 'POST',
      url,
      headers,
      message,
      body,
      handle,
      limitMs,
      isOneWay,
    })
  }

  /** Requests an event stream, or the rest of one after `lastEventId`. */
  get(lastEventId: string, handle: AbortHandle): Promise<HttpResponse> {
    const headers = {
      accept: 'text/event-stream',
      ...this.session.headers(),
      ...(lastEventId !== '' && { 'last-event-id': byteString(lastEventId) }),
    }
    const { acceptTimeoutMs } = this.settings
    return this.#client.send({
      method: 'GET',
      url: this.url,
      headers,
      handle,
      limitMs: acceptTimeoutMs,
    })
  }

  /** Ends the session. */
  delete(handle: AbortHandle): Promise<HttpResponse> {
    const headers = this.session.headers()
    return this.#client.send({ method: 'DELETE', url: this.url, headers, handle, isOneWay: true })
  }

  /** Closes all connections. Nothing can be sent afterwards. */
  close(): void {
    this.#client.close()
  }

  #headersFor(message: Message | readonly Message[]): Record<string, string> {
    const version = statelessVersion(message)
    if (version !== undefined) {
      const headers = statelessHeaders(message, version, this.tools)
      return this.#asksForWebSocket(message) ? { ...headers, [wireHeader]: webSocketWire } : headers
    }
    const isInitialize = 'method' in message && message.method === 'initialize'
    return isInitialize || this.isHttpSse ? {} : this.session.headers()
  }

  /** Whether a message is to ask for WebSockets as well. */
  #asksForWebSocket(message: Message | readonly Message[]): boolean {
    if (this.settings.onWebSocketOffer === undefined) return false
    return 'method' in message && message.method === 'server/discover'
  }
}

/** Returns a text as the value of a header: each byte of its UTF-8 as one character. */
function byteString(text: string): string {
  let bytes = ''
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte)
  return bytes
}
