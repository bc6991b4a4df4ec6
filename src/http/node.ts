import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Principal } from '../jsonrpc/channel.ts'
import { systemDeadlines, timed } from '../util/deadline.ts'
import { limits } from '../util/limits.ts'
import { type Asked, type Gate, headerValues, reachedAt } from '../util/origin.ts'
import { type Outgoing, outbox } from './outbox.ts'
import {
  type EventStream,
  eventStream,
  type HttpHandler,
  type HttpReply,
  type HttpRequest,
  type OutboundOptions,
  type ReplyHeaders,
} from './transfer.ts'

/** How long a client may take to say what it wants. What is left out has the default of `docs/limits.md`. */
export interface HttpTimeouts {
  /** How long the headers of a request may take. */
  readonly headersTimeoutMs?: number
  /** How long a whole request may take to arrive. */
  readonly requestTimeoutMs?: number
  /** How long a connection is kept open for a further request. */
  readonly idleTimeoutMs?: number
}

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

/**
 * A Node server for a service, not listening yet. A client that is slow to say what it wants is cut
 * off, and its connection ends when it has been idle for a while.
 */
export function nodeServer(
  service: HttpHandler,
  options: OutboundOptions & HttpTimeouts = {},
): Server {
  /** The answer that was last begun on a connection. */
  const answers = new WeakMap<object, ServerResponse>()
  const server = createServer(timeouts(options), (request, response) => {
    answers.set(request.socket, response)
    serveNode(service, request, response, options)
  })
  const connections = new Set<Socket>()
  spares.set(server, connections)
  server.on('connection', socket => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  // What cannot be read as HTTP at all has no reply to answer it with.
  server.on('clientError', (error, socket) => {
    const answer = answers.get(socket)
    // In the middle of an answer, or ahead of one that waits, these words would be taken for a part of it.
    const isAnswering = answer !== undefined && !answer.writableFinished
    if (!socket.writable || (isAnswering && (answer.headersSent || answer.socket === null))) {
      socket.destroy()
    } else {
      const status = unreadable.get(codeOf(error)) ?? '400 Bad Request'
      socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
    }
  })
  return server
}

/** The connections of each server. */
const spares = new WeakMap<Server, ReadonlySet<Socket>>()

/**
 * Closes the connections of a server on which nothing is going on: those that have been answered, and
 * those that a client has opened to have one at hand, which Node does not count as idle.
 */
export function closeSpares(server: Server): void {
  server.closeIdleConnections()
  for (const socket of spares.get(server) ?? []) {
    if (socket.bytesRead === 0) socket.destroy()
  }
}

const unreadable: ReadonlyMap<unknown, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
])

function codeOf(error: Error): unknown {
  return 'code' in error ? error.code : undefined
}

function timeouts(options: HttpTimeouts): ServerOptions {
  const requestTimeout = options.requestTimeoutMs ?? limits.httpRequestMs.default
  const headersTimeout = Math.min(
    options.headersTimeoutMs ?? limits.httpHeadersMs.default,
    requestTimeout || Number.POSITIVE_INFINITY,
  )
  return {
    requestTimeout,
    headersTimeout,
    keepAliveTimeout: options.idleTimeoutMs ?? limits.httpIdleMs.default,
    // How late a timeout may be noticed.
    connectionsCheckingInterval: Math.ceil(Math.min(1000, headersTimeout / 4)),
  }
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
    outbox.add(this)
  }

  leave(): void {
    if (this.#body === undefined) this.#response.end()
    else this.#response.end(this.#body, this.#encoding)
  }

  stream(headers: ReplyHeaders): EventStream {
    this.#stream = new NodeStream(this.#response, headers, this.#options)
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

class NodeStream implements EventStream, Outgoing {
  readonly #response: ServerResponse
  readonly #headers: ReplyHeaders
  readonly #high: number
  readonly #most: number
  readonly #stallMs: number
  /** What was written in this turn of the event loop. */
  #text = ''
  #bytes = 0
  #isQueued = true
  /** Whether the head of the answer has left the response. */
  #isBegun = false
  #isEnded = false
  #room: Promise<void> | undefined

  constructor(response: ServerResponse, headers: ReplyHeaders, options: OutboundOptions) {
    this.#response = response
    this.#headers = headers
    this.#high = options.highWaterBytes ?? limits.outboundHighWaterBytes.default
    this.#most = options.maxOutboundBytes ?? limits.outboundBytes.default
    this.#stallMs = options.stallMs ?? limits.stallMs.default
    // The head leaves in any case, and whatever follows in this turn with it.
    outbox.add(this)
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  write(text: string): void | Promise<void> {
    const response = this.#response
    if (this.#isEnded || response.destroyed) return
    this.#text += text
    this.#bytes += Buffer.byteLength(text)
    this.#queue()
    if (this.#bytes + response.writableLength <= this.#high) return
    this.#pass()
    const waiting = response.writableLength
    if (waiting > this.#most) response.destroy()
    else if (waiting > this.#high) return this.#wait()
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#queue()
  }

  leave(): void {
    this.#isQueued = false
    this.#pass()
  }

  #queue(): void {
    if (this.#isQueued) return
    this.#isQueued = true
    outbox.add(this)
  }

  #pass(): void {
    const response = this.#response
    const text = this.#text
    const bytes = this.#bytes
    // Plain ASCII can be copied as it is.
    const encoding = bytes === text.length ? 'latin1' : 'utf8'
    this.#text = ''
    this.#bytes = 0
    if (response.writableEnded || response.destroyed) return
    const wasBegun = this.#isBegun
    if (!wasBegun) this.#begin(bytes)
    if (this.#isEnded) response.end(text, encoding)
    else if (text === '') response.flushHeaders()
    else if (wasBegun && isPlain(response) && response.socket !== null) {
      // The response would hand over a chunk in four pieces, which costs a third more for each client
      // that is told of a change.
      response.socket.write(`${bytes.toString(16)}\r\n${text}\r\n`, encoding)
    } else response.write(text, encoding)
  }

  /** Says the head. Of a stream that is over already the size is known, and all of it is one write. */
  #begin(bytes: number): void {
    this.#isBegun = true
    const fields = this.#isEnded ? ['content-length', String(bytes)] : []
    for (const [name, value] of Object.entries(this.#headers)) fields.push(name, value)
    this.#response.writeHead(200, fields.concat(eventFields))
  }

  #wait(): Promise<void> {
    this.#room ??= new Promise(resolve => {
      const stalled = timed(() => this.#response.destroy())
      // Of what goes to the connection past the response, only the connection knows when it has left.
      const way = this.#response.socket ?? this.#response
      const over = (): void => {
        systemDeadlines.stop(stalled)
        way.off('drain', over)
        this.#response.off('close', over)
        this.#room = undefined
        resolve()
      }
      systemDeadlines.start(stalled, this.#stallMs)
      way.on('drain', over)
      this.#response.on('close', over)
    })
    return this.#room
  }
}

/** Whether what is written leaves in chunks as it is: nobody has put anything in between, as to compress it. */
function isPlain(response: ServerResponse): boolean {
  return response.chunkedEncoding && response.write === ServerResponse.prototype.write
}
