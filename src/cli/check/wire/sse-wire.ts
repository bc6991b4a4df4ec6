import { type ClientRequest, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { limits } from '../../../util/limits/limits.ts'
import { SseReader } from '../../../wire/sse.ts'
import { sendHttp } from './http-wire.ts'
import { IncomingQueue, type Wire } from './wire.ts'

/**
 * Opens a wire over the HTTP+SSE transport: an event stream carries the messages of the server, and its first event
 * names the URL for those of the client. Rejects if the stream does not open, or names no such URL in time.
 */
export async function sseWire(
  url: URL,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<Wire> {
  const incoming = new IncomingQueue()
  const { stream, messagesUrl } = await openStream({ url, headers, timeoutMs, incoming })
  return {
    incoming,
    send: async (body, more = {}) => {
      const all = { 'content-type': 'application/json', ...more, ...headers }
      const request = { method: 'POST', url: messagesUrl, headers: all, body, timeoutMs }
      const response = await sendHttp(request).catch(() => undefined)
      // Replies come over the stream; a status other than success is all there will be.
      if (response === undefined || response.status < 300) return
      const { status, mediaType, text } = response
      if (!incoming.pushText(text)) incoming.push({ type: 'http', status, mediaType, text })
    },
    close: async () => {
      incoming.close('closed')
      stream.destroy()
    },
  }
}

interface StreamRequest {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly incoming: IncomingQueue
}

interface OpenStream {
  readonly stream: ClientRequest
  readonly messagesUrl: URL
}

function openStream({ url, headers, timeoutMs, incoming }: StreamRequest): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    const all = { accept: 'text/event-stream', ...headers }
    const stream = send(url, { headers: all, agent: false })
    const timer = setTimeout(() => {
      stream.destroy(new Error(`the event stream names no endpoint within ${timeoutMs} ms`))
    }, timeoutMs)
    const event = ({ data, event: type }: { readonly data: string; readonly event: string }) => {
      if (type !== 'endpoint') {
        incoming.pushText(data)
        return
      }
      clearTimeout(timer)
      if (URL.canParse(data, url.href)) resolve({ stream, messagesUrl: new URL(data, url) })
      else stream.destroy(new Error('the event stream names an endpoint that is not a URL'))
    }
    const oversize = (): void => incoming.close('an event exceeds the size limit')
    const reader = new SseReader({ event, oversize }, limits.checkBodyBytes.default)
    stream.on('response', response => {
      response.on('data', (chunk: Buffer) => reader.push(chunk))
      response.on('error', () => {})
    })
    stream.on('error', error => {
      clearTimeout(timer)
      incoming.close(`the event stream failed: ${error.message}`)
      reject(error)
    })
    stream.on('close', () => {
      clearTimeout(timer)
      incoming.close('the server closed the event stream')
      reject(new Error('the server closed the event stream'))
    })
    stream.end()
  })
}
