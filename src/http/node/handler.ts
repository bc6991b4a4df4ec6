import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Principal } from '../../jsonrpc/channel.ts'
import type { AuthCache, ClientCertificate } from '../../mcp/authenticator.ts'
import { limits } from '../../util/limits/limits.ts'
import {
  headerValues,
  type OriginPolicy,
  type RequestOrigin,
  reachedAt,
} from '../../util/origin.ts'
import { clientAddress } from '../../util/sockets/client-address.ts'
import type { RequestBudget } from '../../util/sockets/request-budget.ts'
import {
  type BodyReader,
  type EventStream,
  eventStream,
  type GivenRequest,
  type HttpHandler,
  type HttpReply,
  type HttpRequest,
  type ReplyHeaders,
  withoutCredentials,
} from '../exchange.ts'
import { authCacheOf, clientCertificate } from './auth/connection-auth.ts'
import { NodeStream, type StreamChunk, type StreamOutput } from './event-stream.ts'
import { handleInTurn, type NodeHost } from './host.ts'
import { readNodeBody } from './read-body.ts'
import { watchResponse } from './unread-response.ts'
import { type Flushable, writeBatch } from './write-batch.ts'

/**
 * Handles a request of a Node server, and of Express and similar frameworks. The third argument carries what
 * code in front of the handler knows of the request; a function there, as frameworks pass it, is ignored.
 */
export type NodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  given?: GivenRequest | ((error?: unknown) => void),
) => void

/** Passes a request of a Node server to a service. */
export function serveNode(
  service: HttpHandler,
  request: IncomingMessage,
  response: ServerResponse,
  host: NodeHost,
  given?: GivenRequest,
): void {
  // Beyond its own, larger limit Node drops headers, so the remaining ones could not be relied on.
  if (request.rawHeaders.length > limits.httpHeaderFields.default * 2) {
    response.writeHead(431, { connection: 'close' }).end()
    watchResponse(response, host)
    return
  }
  const incoming = new NodeRequest(request, host, given)
  handleInTurn(service, incoming, new NodeReply(response, host), host)
}

/** What a middleware in front may have set on a request. */
interface Prepared {
  /** The authenticated caller. */
  readonly principal?: Principal
  /** The body, where a body parser has read it. */
  readonly body?: unknown
}

class NodeRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly requestBudget: RequestBudget
  readonly query: string
  principal: Principal | undefined
  hiddenHeaders: readonly string[] | undefined
  readonly #request: IncomingMessage & Prepared
  readonly #host: NodeHost
  readonly #given: GivenRequest | undefined

  constructor(request: IncomingMessage, host: NodeHost, given: GivenRequest | undefined) {
    this.#request = request
    this.#given = given
    this.#host = host
    this.requestBudget = host.held.requests
    this.method = request.method ?? ''
    const target = request.url ?? '/'
    const query = target.indexOf('?')
    this.path = query === -1 ? target : target.slice(0, query)
    this.query = query === -1 ? '' : target.slice(query + 1)
    this.principal = given?.principal ?? this.#request.principal
  }

  values(name: string): readonly string[] {
    return headerValues(this.#request.rawHeaders, name)
  }

  get authCache(): AuthCache {
    return authCacheOf(this.#request.socket)
  }

  get certificate(): ClientCertificate | undefined {
    return clientCertificate(this.#request.socket)
  }

  get env(): unknown {
    return this.#given?.env
  }

  get headers(): Readonly<Record<string, string>> {
    // The check: Node gives a list for Set-Cookie only, which no request carries.
    const headers = this.#request.headers as Readonly<Record<string, string>>
    return this.hiddenHeaders === undefined
      ? headers
      : withoutCredentials(headers, this.hiddenHeaders)
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name]
    return typeof value === 'string' ? value : value?.join(', ')
  }

  origin(): RequestOrigin {
    const { rawHeaders, url = '', headers } = this.#request
    return {
      hosts: headerValues(rawHeaders, 'host'),
      origins: headerValues(rawHeaders, 'origin'),
      target: url,
      site: headers['sec-fetch-site']?.toString(),
    }
  }

  local(): Pick<OriginPolicy, 'port' | 'loopback'> {
    return reachedAt(this.#request.socket)
  }

  address(includesLocal: boolean): string | undefined {
    const { isProxy } = this.#host
    const { remoteAddress } = this.#request.socket
    return clientAddress(remoteAddress, this.header('x-forwarded-for'), { isProxy, includesLocal })
  }

  body(maxBytes: number, done: BodyReader): void {
    const request = this.#request
    if (request.readableEnded) {
      const bytes = bytesRead(request.body)
      done(bytes.length > maxBytes ? undefined : bytes)
    } else readNodeBody(request, maxBytes, this.#host.held, done)
  }
}

/** Returns a body that a body parser has read, if it is still unchanged. Throws otherwise. */
function bytesRead(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body
  if (typeof body === 'string') return Buffer.from(body)
  // A body serialized again would hide what `JSON.parse` accepts silently: duplicate keys and long
  // numbers.
  throw new Error(
    'the request body was read before this handler: mount it ahead of body parsers, or configure them to keep the raw bytes',
  )
}

class NodeReply implements HttpReply, Flushable {
  readonly #response: ServerResponse
  readonly #host: NodeHost
  #isSent = false
  #body: string | undefined
  #encoding: 'latin1' | 'utf8' = 'latin1'
  #stream: NodeStream | undefined
  /** Called when the client disconnects. */
  #onDisconnect: (() => void)[] | undefined

  constructor(response: ServerResponse, host: NodeHost) {
    this.#response = response
    this.#host = host
    // A client that disconnects in the middle is not an error of this server.
    response.on('error', ignore)
  }

  get isFinished(): boolean {
    const response = this.#response
    if (this.#isSent || response.writableEnded || response.destroyed) return true
    return this.#stream?.isEnded ?? false
  }

  send(status: number, headers: ReplyHeaders, body?: string): void {
    const response = this.#response
    if (this.isFinished) return
    // A client that is rejected in the middle of a large body would go on sending it in vain.
    if (status >= 400 && isLargeUnread(response.req)) {
      response.setHeader('connection', 'close')
      // Until then the rest is dropped: unread, it would hide that the client disconnects.
      response.req.resume()
    }
    if (body === undefined) response.writeHead(status, headers)
    else {
      const length = Buffer.byteLength(body)
      // ASCII is the same in Latin-1, which Node copies without encoding and together with the
      // head.
      this.#encoding = length === body.length ? 'latin1' : 'utf8'
      const fields = ['content-length', String(length)]
      for (const [name, value] of Object.entries(headers)) fields.push(name, value)
      response.writeHead(status, fields)
    }
    this.#isSent = true
    this.#body = body
    // Long texts of one turn would all be in memory together.
    if (body !== undefined && body.length > maxTextLength) this.flush()
    else writeBatch.add(this)
  }

  flush(): void {
    const response = this.#response
    if (this.#body === undefined) response.end()
    else if (this.#body.length <= maxTextLength) response.end(this.#body, this.#encoding)
    // Node would keep a text besides its bytes until the client has read them.
    else response.end(Buffer.from(this.#body, this.#encoding))
    this.#body = undefined
    watchResponse(response, this.#host)
  }

  stream(headers: ReplyHeaders): EventStream {
    const output = new ResponseOutput(this.#response, headers, this.#host)
    this.#stream = new NodeStream(output, this.#host.outbound)
    return this.#stream
  }

  onDisconnect(listener: () => void): void {
    if (this.#onDisconnect !== undefined) {
      this.#onDisconnect.push(listener)
      return
    }
    const response = this.#response
    const listeners = [listener]
    this.#onDisconnect = listeners
    response.on('close', () => {
      if (!response.writableFinished) for (const one of listeners) one()
    })
  }
}

/** A longer body is written as bytes. */
const maxTextLength = 64 * 1024

const eventFields = Object.entries(eventStream).flat()

function ignore(): void {}

function isLargeUnread({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false
  const length = headers['content-length']
  return length === undefined
    ? headers['transfer-encoding'] !== undefined
    : Number(length) > limits.httpRejectedBodyBytes.default
}

/** An event stream as the body of a `ServerResponse`. */
class ResponseOutput implements StreamOutput {
  readonly #response: ServerResponse
  readonly #headers: ReplyHeaders
  readonly #host: NodeHost

  constructor(response: ServerResponse, headers: ReplyHeaders, host: NodeHost) {
    this.#response = response
    this.#headers = headers
    this.#host = host
  }

  get isFinished(): boolean {
    return this.#response.writableEnded || this.#response.destroyed
  }

  get bufferedBytes(): number {
    return this.#response.writableLength
  }

  write({ text, bytes, encoding, isFirst, isLast }: StreamChunk): void {
    const response = this.#response
    if (isFirst) {
      // The size of a stream that has ended already is known, and the response is one write.
      const fields = isLast ? ['content-length', String(bytes)] : []
      for (const [name, value] of Object.entries(this.#headers)) fields.push(name, value)
      response.writeHead(200, fields.concat(eventFields))
    }
    if (isLast) response.end(text, encoding)
    else if (text === '') response.flushHeaders()
    else if (!isFirst && isPlain(response) && response.socket !== null) {
      // The response would write a chunk in four pieces, which costs a third more for every client
      // that is notified of a change.
      response.socket.write(`${bytes.toString(16)}\r\n${text}\r\n`, encoding)
    } else response.write(text, encoding)
    watchResponse(response, this.#host)
  }

  cut(): void {
    this.#response.destroy()
  }

  watch(listener: () => void): () => void {
    const response = this.#response
    // Only the socket knows when chunks that bypassed the response have been sent.
    const output = response.socket ?? response
    output.on('drain', listener)
    response.on('close', listener)
    return () => {
      output.off('drain', listener)
      response.off('close', listener)
    }
  }
}

/**
 * Whether chunks can bypass the response: it is chunked, and no middleware, such as compression, has
 * replaced `write`.
 */
function isPlain(response: ServerResponse): boolean {
  return response.chunkedEncoding && response.write === ServerResponse.prototype.write
}
