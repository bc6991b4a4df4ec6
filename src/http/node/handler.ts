import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Principal } from '../../jsonrpc/channel.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Asked, type Gate, headerValues, reachedAt } from '../../util/origin.ts'
import {
  type EventStream,
  eventStream,
  type HttpHandler,
  type HttpReply,
  type HttpRequest,
  type OutboundOptions,
  type ReplyHeaders,
} from '../exchange.ts'
import { NodeStream, type StreamPiece, type StreamWay } from './event-stream.ts'
import { departures, type Outgoing } from './write-batch.ts'

/** Answers a request of a Node server; that of `express` and its like, too. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void

/** Hands what comes to a Node server to a service. */
export function serveNode(
  service: HttpHandler,
  request: IncomingMessage,
  response: ServerResponse,
  options: OutboundOptions = {},
): void {
  // Node leaves out what is beyond its own, larger limit: nobody could be sure of the rest.
  if (request.rawHeaders.length > limits.httpHeaderFields.default * 2) {
    response.writeHead(431, { connection: 'close' }).end()
    return
  }
  service.handle(new NodeRequest(request), new NodeReply(response, options))
}

/** What a middleware in front may have put on a request. */
interface Prepared {
  /** Who asks. */
  readonly principal?: Principal
  /** The body, where somebody else has read it. */
  readonly body?: unknown
}

class NodeRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly #request: IncomingMessage & Prepared

  constructor(request: IncomingMessage) {
    this.#request = request
    this.method = request.method ?? ''
    const target = request.url ?? '/'
    const query = target.indexOf('?')
    this.path = query === -1 ? target : target.slice(0, query)
  }

  get principal(): Principal | undefined {
    return this.#request.principal
  }

  get headers(): Readonly<Record<string, string>> {
    // The check: lists are for Set-Cookie alone, which no request carries.
    return this.#request.headers as Readonly<Record<string, string>>
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name]
    return typeof value === 'string' ? value : value?.join(', ')
  }

  asked(): Asked {
    const { rawHeaders, url = '', headers } = this.#request
    return {
      hosts: headerValues(rawHeaders, 'host'),
      origins: headerValues(rawHeaders, 'origin'),
      target: url,
      site: headers['sec-fetch-site']?.toString(),
    }
  }

  local(): Pick<Gate, 'port' | 'loopback'> {
    return reachedAt(this.#request.socket)
  }

  body(maxBytes: number, done: (bytes: Uint8Array | undefined) => void): void {
    const request = this.#request
    if (Number(request.headers['content-length']) > maxBytes) {
      done(undefined)
      return
    }
    if (request.readableEnded) {
      const bytes = bytesRead(request.body)
      done(bytes.length > maxBytes ? undefined : bytes)
      return
    }
    let first: Buffer | undefined
    let more: Buffer[] | undefined
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) {
        request.removeAllListeners('data').removeAllListeners('end')
        // What is still to come is of no interest; the connection cannot be used again.
        request.resume()
        done(undefined)
      } else if (first === undefined) first = chunk
      else if (more === undefined) more = [first, chunk]
      else more.push(chunk)
    })
    request.on('end', () => {
      done(more === undefined ? (first ?? new Uint8Array()) : Buffer.concat(more, size))
    })
  }
}

/** A body that was read by somebody else, if it is still as it came. */
function bytesRead(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body
  if (typeof body === 'string') return Buffer.from(body)
  // Written anew, it would hide what a reader of JSON passes over: keys that stand twice, long numbers.
  throw new Error(
    'the body of a request was read before it came here: put this handler ahead of body parsers, or let them keep it as bytes',
  )
}

class NodeReply implements HttpReply, Outgoing {
  readonly #response: ServerResponse
  readonly #options: OutboundOptions
  #isSent = false
  #body: string | undefined
  #encoding: 'latin1' | 'utf8' = 'latin1'
  #stream: NodeStream | undefined
  /** Whoever is to be told when the client goes. */
  #gone: (() => void)[] | undefined

  constructor(response: ServerResponse, options: OutboundOptions) {
    this.#response = response
    this.#options = options
    // A client that goes away in the middle is no error of ours.
    response.on('error', ignore)
  }

  get isOver(): boolean {
    const response = this.#response
    if (this.#isSent || response.writableEnded || response.destroyed) return true
    return this.#stream?.isEnded ?? false
  }

  send(status: number, headers: ReplyHeaders, body?: string): void {
    const response = this.#response
    if (this.isOver) return
    // Whoever is refused in the middle of a large body would go on sending it for nothing.
    if (status >= 400 && isLargeUnread(response.req)) response.setHeader('connection', 'close')
    if (body === undefined) response.writeHead(status, headers)
    else {
      const length = Buffer.byteLength(body)
      // Plain ASCII can be copied as it is, and together with the head.
      this.#encoding = length === body.length ? 'latin1' : 'utf8'
      const fields = ['content-length', String(length)]
      for (const [name, value] of Object.entries(headers)) fields.push(name, value)
      response.writeHead(status, fields)
    }
    this.#isSent = true
    this.#body = body
    departures.add(this)
  }

  leave(): void {
    if (this.#body === undefined) this.#response.end()
    else this.#response.end(this.#body, this.#encoding)
  }

  stream(headers: ReplyHeaders): EventStream {
    this.#stream = new NodeStream(new ResponseWay(this.#response, headers), this.#options)
    return this.#stream
  }

  onGone(listener: () => void): void {
    if (this.#gone !== undefined) {
      this.#gone.push(listener)
      return
    }
    const response = this.#response
    const listeners = [listener]
    this.#gone = listeners
    response.on('close', () => {
      if (!response.writableFinished) for (const tell of listeners) tell()
    })
  }
}

const eventFields = Object.entries(eventStream).flat()

function ignore(): void {}

function isLargeUnread({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false
  const length = headers['content-length']
  return length === undefined
    ? headers['transfer-encoding'] !== undefined
    : Number(length) > limits.httpRefusedBytes.default
}

/** An event stream as the body of a response. */
class ResponseWay implements StreamWay {
  readonly #response: ServerResponse
  readonly #headers: ReplyHeaders

  constructor(response: ServerResponse, headers: ReplyHeaders) {
    this.#response = response
    this.#headers = headers
  }

  get isOver(): boolean {
    return this.#response.writableEnded || this.#response.destroyed
  }

  get waitingBytes(): number {
    return this.#response.writableLength
  }

  pass({ text, bytes, encoding, isFirst, isLast }: StreamPiece): void {
    const response = this.#response
    if (isFirst) {
      // Of a stream that is over already the size is known, and all of it is one write.
      const fields = isLast ? ['content-length', String(bytes)] : []
      for (const [name, value] of Object.entries(this.#headers)) fields.push(name, value)
      response.writeHead(200, fields.concat(eventFields))
    }
    if (isLast) response.end(text, encoding)
    else if (text === '') response.flushHeaders()
    else if (!isFirst && isPlain(response) && response.socket !== null) {
      // The response would hand over a chunk in four pieces, which costs a third more for each client
      // that is told of a change.
      response.socket.write(`${bytes.toString(16)}\r\n${text}\r\n`, encoding)
    } else response.write(text, encoding)
  }

  cut(): void {
    this.#response.destroy()
  }

  watch(listener: () => void): () => void {
    const response = this.#response
    // Of what goes to the connection past the response, only the connection knows when it has left.
    const way = response.socket ?? response
    way.on('drain', listener)
    response.on('close', listener)
    return () => {
      way.off('drain', listener)
      response.off('close', listener)
    }
  }
}

/** Whether what is written leaves in chunks as it is: nobody has put anything in between, as to compress it. */
function isPlain(response: ServerResponse): boolean {
  return response.chunkedEncoding && response.write === ServerResponse.prototype.write
}
