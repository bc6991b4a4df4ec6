import type { Message } from '../jsonrpc/message.ts'
import { SessionHeaders, statelessHeaders, statelessVersion } from './client-headers.ts'
import type { HttpSettings } from './client-options.ts'
import { AnnotatedTools } from './client-tools.ts'
import { Web } from './client-web.ts'

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

  /** Sends a message. Without `limitMs` the answer may take any time. */
  post(
    message: Message | readonly Message[],
    body: string,
    abort: AbortController,
    limitMs?: number,
  ): Promise<Response> {
    const headers = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...this.#own(message),
    }
    const url = this.#endpoint ?? this.url
    return this.#web.ask({ method: 'POST', url, headers, body, abort, limitMs })
  }

  /** Asks for an event stream, or for the rest of one. */
  get(lastEventId: string, abort: AbortController): Promise<Response> {
    const headers = {
      accept: 'text/event-stream',
      ...this.session.headers(),
      ...(lastEventId !== '' && { 'last-event-id': byteString(lastEventId) }),
    }
    const { acceptMs } = this.settings
    return this.#web.ask({ method: 'GET', url: this.url, headers, abort, limitMs: acceptMs })
  }

  /** Ends the session. */
  delete(abort: AbortController): Promise<Response> {
    const headers = this.session.headers()
    return this.#web.ask({ method: 'DELETE', url: this.url, headers, abort })
  }

  #own(message: Message | readonly Message[]): Record<string, string> {
    const version = statelessVersion(message)
    if (version !== undefined) return statelessHeaders(message, version, this.tools)
    const isOpening = 'method' in message && message.method === 'initialize'
    return isOpening || this.isPair ? {} : this.session.headers()
  }
}

/** A text as a header carries it: its bytes in UTF-8, each as one character. */
function byteString(text: string): string {
  let bytes = ''
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte)
  return bytes
}
