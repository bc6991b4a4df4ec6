import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { errorWords } from '../../util/error-words.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'
import { SseReader } from '../../wire/sse.ts'
import { type Heard, Inbox, type Wire } from './wire.ts'

/** One request over HTTP, with any headers whatsoever. */
export interface RawRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly timeoutMs: number
  /** Given each event of an event stream; returning true ends the reading. */
  readonly onEvent?: (data: string, event: string) => boolean
}

/** What it was answered with. */
export interface HttpAnswer {
  readonly status: number
  /** Without its parameters, in lower case; empty where there is none. */
  readonly mediaType: string
  readonly headers: IncomingHttpHeaders
  /** The body, unless it is an event stream. */
  readonly text: string
}

/** Makes a request. Rejects with what the system says, or when the time is over. */
export function askHttp(asking: RawRequest): Promise<HttpAnswer> {
  const { method, url, headers, body, timeoutMs, onEvent } = asking
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const request = send(url, { method, headers, agent: false })
    const timer = setTimeout(
      () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)),
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

function eventsOf(onEvent: RawRequest['onEvent'], finished: () => void): SseReader {
  const sink = {
    event: ({ data, event }: { readonly data: string; readonly event: string }) => {
      if (onEvent === undefined || onEvent(data, event)) finished()
    },
    oversize: finished,
  }
  return new SseReader(sink, limits.checkBodyBytes.default)
}

/**
 * Speaks over HTTP, with `own` headers that win over all others: each text is a POST, and what its answer
 * holds goes to the inbox. Keeps the id of the session, which closing ends.
 */
export class HttpWire implements Wire {
  readonly inbox = new Inbox()
  readonly #url: URL
  readonly #own: Readonly<Record<string, string>>
  readonly #timeoutMs: number
  #session: string | undefined
  #latest: HttpAnswer | undefined

  constructor(url: URL, own: Readonly<Record<string, string>>, timeoutMs: number) {
    this.#url = url
    this.#own = own
    this.#timeoutMs = timeoutMs
  }

  /** The last answer. */
  get latest(): HttpAnswer | undefined {
    return this.#latest
  }

  async send(body: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
    const { inbox } = this
    const id = idOf(body)
    let isReplied = false
    const take = (text: string): void => {
      const message = membersOf(text)
      // An answer to this very request, even if the server could not read its id.
      const isNameless = 'error' in message && 'jsonrpc' in message && (message.id ?? null) === null
      isReplied ||= isNameless || (id !== undefined && isReplyTo(id, message))
      if (isNameless && id !== undefined) {
        inbox.push({ type: 'message', message: { ...message, id } })
      } else inbox.pushText(text)
    }
    const onEvent = (data: string): boolean => {
      if (data !== '') take(data)
      return isReplied
    }
    const answer = await this.#post(body, headers, onEvent)
    if (answer === undefined) return
    const { status, mediaType, text } = answer
    if (text !== '') take(text)
    const isAccepted = id === undefined && status >= 200 && status < 300
    // Nothing else can follow, so that nobody has to wait for it.
    if (!isReplied && !isAccepted) inbox.push({ type: 'refused', status, mediaType, text })
  }

  async close(): Promise<void> {
    this.inbox.end('closed')
    if (this.#session === undefined) return
    const headers = { ...accept, 'mcp-session-id': this.#session, ...this.#own }
    this.#session = undefined
    const timeoutMs = limits.checkSilenceMs.default
    // A courtesy: whether the server knows it or not, the session is over.
    await askHttp({ method: 'DELETE', url: this.#url, headers, timeoutMs }).catch(() => {})
  }

  /** Undefined where no answer came; if none will come any more, the inbox says so. */
  async #post(
    body: string,
    headers: Readonly<Record<string, string>>,
    onEvent: RawRequest['onEvent'],
  ): Promise<HttpAnswer | undefined> {
    const all = {
      ...accept,
      'content-type': 'application/json',
      ...(this.#session !== undefined && { 'mcp-session-id': this.#session }),
      ...headers,
      ...this.#own,
    }
    const timeoutMs = this.#timeoutMs
    try {
      const asking = { method: 'POST', url: this.#url, headers: all, body, timeoutMs, onEvent }
      this.#latest = await askHttp(asking)
    } catch (error) {
      const why = errorWords(error)
      if (!/^no answer within/.test(why)) this.inbox.end(`the request failed: ${why}`)
      return undefined
    }
    const given = this.#latest.headers['mcp-session-id']
    if (typeof given === 'string') this.#session = given
    return this.#latest
  }
}

const accept = { accept: 'application/json, text/event-stream' }

/** The id of a request or reply; undefined for what has none, or cannot be read. */
function idOf(text: string): unknown {
  return membersOf(text).id
}

function isReplyTo(id: unknown, message: Heard): boolean {
  return message.id === id && !('method' in message)
}

function membersOf(text: string): Heard {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}
