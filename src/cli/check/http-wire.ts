import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { errorWords } from '../../util/error-words.ts'
import { limits } from '../../util/limits.ts'
import { isRecord } from '../../util/record.ts'
import { SseReader } from '../../wire/sse.ts'
import { type Heard, Inbox, type Wire } from './wire.ts'

/** One request over HTTP, with any headers whatsoever. */
export interface HttpAsking {
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
export function askHttp(asking: HttpAsking): Promise<HttpAnswer> {
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

function eventsOf(onEvent: HttpAsking['onEvent'], finished: () => void): SseReader {
  const sink = {
    event: ({ data, event }: { readonly data: string; readonly event: string }) => {
      if (onEvent === undefined || onEvent(data, event)) finished()
    },
    oversize: finished,
  }
  return new SseReader(sink, limits.checkBodyBytes.default)
}

/** What a wire over HTTP has been told, and has to say again. */
export interface HttpWire extends Wire {
  /** Of the last answer. */
  readonly latest: () => HttpAnswer | undefined
}

/**
 * Speaks over HTTP, with `own` headers that win over all others: each text is a POST, and what its answer holds goes to the inbox. Keeps the id of
 * the session, which closing ends.
 */
export function httpWire(
  url: URL,
  own: Readonly<Record<string, string>>,
  timeoutMs: number,
): HttpWire {
  const inbox = new Inbox()
  let session: string | undefined
  let latest: HttpAnswer | undefined
  const usual = { accept: 'application/json, text/event-stream' }
  const send: Wire['send'] = async (body, headers = {}) => {
    const id = idOf(body)
    let isReplied = false
    const all = {
      ...usual,
      'content-type': 'application/json',
      ...(session !== undefined && { 'mcp-session-id': session }),
      ...headers,
      ...own,
    }
    const take = (text: string): void => {
      const message = membersOf(text)
      // An answer to this very request, even if the server could not read its id.
      const isNameless = 'error' in message && 'jsonrpc' in message && (message.id ?? null) === null
      isReplied ||= isNameless || (id !== undefined && isReplyTo(id, message))
      if (isNameless && id !== undefined)
        inbox.push({ type: 'message', message: { ...message, id } })
      else inbox.pushText(text)
    }
    try {
      const onEvent = (data: string): boolean => {
        if (data !== '') take(data)
        return isReplied
      }
      latest = await askHttp({ method: 'POST', url, headers: all, body, timeoutMs, onEvent })
    } catch (error) {
      const why = errorWords(error)
      if (!/^no answer within/.test(why)) inbox.end(`the request failed: ${why}`)
      return
    }
    const given = latest.headers['mcp-session-id']
    if (typeof given === 'string') session = given
    const { status, mediaType, text } = latest
    if (text !== '') take(text)
    const isAccepted = id === undefined && status >= 200 && status < 300
    // Nothing else can follow, so that nobody has to wait for it.
    if (!isReplied && !isAccepted) inbox.push({ type: 'refused', status, mediaType, text })
  }
  return {
    inbox,
    latest: () => latest,
    send,
    close: async () => {
      inbox.end('closed')
      if (session === undefined) return
      const headers = { ...usual, 'mcp-session-id': session, ...own }
      session = undefined
      // A courtesy: whether the server knows it or not, the session is over.
      await askHttp({
        method: 'DELETE',
        url,
        headers,
        timeoutMs: limits.checkSilenceMs.default,
      }).catch(() => {})
    },
  }
}

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
