import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { limits } from '../../../util/limits/limits.ts'
import { isRecord } from '../../../util/objects.ts'
import { errorMessage } from '../../../util/text/error-message.ts'
import { SseReader } from '../../../wire/sse.ts'
import { IncomingQueue, type MessageObject, type Wire } from './wire.ts'

/** An HTTP request with arbitrary headers. */
export interface RawHttpRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly timeoutMs: number
  /** Receives each event of an event stream; returning true stops reading. */
  readonly onEvent?: (data: string, event: string) => boolean
}

/** An HTTP response. */
export interface RawResponse {
  readonly status: number
  /** Media type without parameters, in lower case; empty if absent. */
  readonly mediaType: string
  readonly headers: IncomingHttpHeaders
  /** The body; empty for an event stream. */
  readonly text: string
}

/** Sends a request. Rejects with the system error, or with an error after `timeoutMs`. */
export function sendHttp(options: RawHttpRequest): Promise<RawResponse> {
  const { method, url, headers, body, timeoutMs, onEvent } = options
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const request = send(url, { method, headers, agent: false })
    const timer = setTimeout(
      () => request.destroy(new Error(`no response within ${timeoutMs} ms`)),
      timeoutMs,
    )
    request.once('error', error => {
      clearTimeout(timer)
      reject(error)
    })
    request.once('response', response => {
      const mediaType = (response.headers['content-type'] ?? '')
        .split(';', 1)[0]
        ?.trim()
        .toLowerCase()
      const chunks: Buffer[] = []
      const done = (): void => {
        clearTimeout(timer)
        resolve({
          status: response.statusCode ?? 0,
          mediaType: mediaType ?? '',
          headers: response.headers,
          text: Buffer.concat(chunks).toString('utf8'),
        })
      }
      const sse = mediaType === 'text/event-stream' ? eventsOf(onEvent, finished) : undefined
      function finished(): void {
        done()
        request.destroy()
      }
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > limits.checkBodyBytes.default) finished()
        else if (sse !== undefined) sse.push(chunk)
        else chunks.push(chunk)
      })
      response.once('end', done)
      response.once('error', done)
    })
    request.end(body)
  })
}

function eventsOf(onEvent: RawHttpRequest['onEvent'], finished: () => void): SseReader {
  const sink = {
    event: ({ data, event }: { readonly data: string; readonly event: string }) => {
      if (onEvent === undefined || onEvent(data, event)) finished()
    },
    oversize: finished,
  }
  return new SseReader(sink, limits.checkBodyBytes.default)
}

/**
 * A wire over HTTP. Each text is sent as a POST, and the messages of its response go to `incoming`. It stores
 * the session id, and `close` deletes the session. `own` headers override all others.
 */
export class HttpWire implements Wire {
  readonly incoming = new IncomingQueue()
  readonly #url: URL
  readonly #own: Readonly<Record<string, string>>
  readonly #timeoutMs: number
  #session: string | undefined
  #latest: RawResponse | undefined

  constructor(url: URL, own: Readonly<Record<string, string>>, timeoutMs: number) {
    this.#url = url
    this.#own = own
    this.#timeoutMs = timeoutMs
  }

  /** The latest response. */
  get latest(): RawResponse | undefined {
    return this.#latest
  }

  async send(body: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
    const { incoming } = this
    const id = idOf(body)
    let isReplied = false
    const receive = (text: string): void => {
      const message = membersOf(text)
      // An error without an id belongs to this request: the server could not read the id.
      const hasNoId = 'error' in message && 'jsonrpc' in message && (message.id ?? null) === null
      isReplied ||= hasNoId || (id !== undefined && isReplyTo(id, message))
      if (hasNoId && id !== undefined) {
        incoming.push({ type: 'message', message: { ...message, id } })
      } else incoming.pushText(text)
    }
    const onEvent = (data: string): boolean => {
      if (data !== '') receive(data)
      return isReplied
    }
    const response = await this.#post(body, headers, onEvent)
    if (response === undefined) return
    const { status, mediaType, text } = response
    if (text !== '') receive(text)
    const isAccepted = id === undefined && status >= 200 && status < 300
    // No message will follow this response, so `take` need not wait for one.
    if (!isReplied && !isAccepted) incoming.push({ type: 'http', status, mediaType, text })
  }

  async close(): Promise<void> {
    this.incoming.close('closed')
    if (this.#session === undefined) return
    const headers = { ...accept, 'mcp-session-id': this.#session, ...this.#own }
    this.#session = undefined
    const timeoutMs = limits.checkNoReplyMs.default
    // Best effort: the session is over, whether or not the server deletes it.
    await sendHttp({ method: 'DELETE', url: this.#url, headers, timeoutMs }).catch(() => {})
  }

  /** Returns undefined if there is no response. If none can follow, it closes `incoming`. */
  async #post(
    body: string,
    headers: Readonly<Record<string, string>>,
    onEvent: RawHttpRequest['onEvent'],
  ): Promise<RawResponse | undefined> {
    const all = {
      ...accept,
      'content-type': 'application/json',
      ...(this.#session !== undefined && { 'mcp-session-id': this.#session }),
      ...headers,
      ...this.#own,
    }
    const timeoutMs = this.#timeoutMs
    try {
      const request = { method: 'POST', url: this.#url, headers: all, body, timeoutMs, onEvent }
      this.#latest = await sendHttp(request)
    } catch (error) {
      const reason = errorMessage(error)
      if (!/^no response within/.test(reason)) this.incoming.close(`the request failed: ${reason}`)
      return undefined
    }
    const sessionId = this.#latest.headers['mcp-session-id']
    if (typeof sessionId === 'string') this.#session = sessionId
    return this.#latest
  }
}

const accept = { accept: 'application/json, text/event-stream' }

/** Returns the id of a message; undefined if it has none or is not an object. */
function idOf(text: string): unknown {
  return membersOf(text).id
}

function isReplyTo(id: unknown, message: MessageObject): boolean {
  return message.id === id && !('method' in message)
}

function membersOf(text: string): MessageObject {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}
