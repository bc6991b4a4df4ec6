import type { Message } from '../../jsonrpc/message.ts'
import { wireHeader, wireOffer } from '../wire-offer.ts'
import { SessionHeaders, statelessHeaders, statelessVersion } from './headers.ts'
import type { HttpSettings } from './options.ts'
import { AnnotatedTools } from './param-headers.ts'
import type { Answer, Hold } from './transport/http-client.ts'
import { Web } from './transport/redirects.ts'

/** What all requests of one channel share: where they go, and what has to be said with each. */
export class Line {
  readonly url: URL
  readonly settings: HttpSettings
  readonly tools = new AnnotatedTools()
  readonly session = new SessionHeaders()
  readonly #web: Web
  /** Where messages go instead, once a server of the oldest revision has named it. */
  #endpoint: URL | undefined

  constructor(url: URL, settings: HttpSettings) {
    this.url = url
    this.settings = settings
    this.#web = new Web(settings)
  }

  /** Whether messages go one way and come another, as in the oldest revision. */
  get isPair(): boolean {
    return this.#endpoint !== undefined
  }

  /** From now on messages go there. */
  moveTo(endpoint: URL): void {
    this.#endpoint = endpoint
  }

  /** Sends a message. Without `limitMs` the answer may take any time, and what waits for it has a place. */
  post(
    message: Message | readonly Message[],
    body: string,
    hold: Hold,
    limitMs?: number,
  ): Promise<Answer> {
    const headers = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...this.#own(message),
    }
    const url = this.#endpoint ?? this.url
    const isBrief = limitMs !== undefined
    return this.#web.ask({ method: 'POST', url, headers, body, hold, limitMs, isBrief })
  }

  /** Asks for an event stream, or for the rest of one. */
  get(lastEventId: string, hold: Hold): Promise<Answer> {
    const headers = {
      accept: 'text/event-stream',
      ...this.session.headers(),
      ...(lastEventId !== '' && { 'last-event-id': byteString(lastEventId) }),
    }
    const { acceptMs } = this.settings
    return this.#web.ask({ method: 'GET', url: this.url, headers, hold, limitMs: acceptMs })
  }

  /** Ends the session. */
  delete(hold: Hold): Promise<Answer> {
    const headers = this.session.headers()
    return this.#web.ask({ method: 'DELETE', url: this.url, headers, hold, isBrief: true })
  }

  /** Lets go of all connections. Nothing can be sent afterwards. */
  close(): void {
    this.#web.close()
  }

  #own(message: Message | readonly Message[]): Record<string, string> {
    const version = statelessVersion(message)
    if (version !== undefined) {
      const headers = statelessHeaders(message, version, this.tools)
      return this.#asks(message) ? { ...headers, [wireHeader]: wireOffer } : headers
    }
    const isOpening = 'method' in message && message.method === 'initialize'
    return isOpening || this.isPair ? {} : this.session.headers()
  }

  /** Whether a message asks for WebSockets besides. */
  #asks(message: Message | readonly Message[]): boolean {
    if (this.settings.onOffer === undefined) return false
    return 'method' in message && message.method === 'server/discover'
  }
}

/** A text as a header carries it: its bytes in UTF-8, each as one character. */
function byteString(text: string): string {
  let bytes = ''
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte)
  return bytes
}
