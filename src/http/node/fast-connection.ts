import { maxHeaderSize } from 'node:http'
import type { Socket } from 'node:net'
import { MetaCache } from '../../jsonrpc/codec/meta-cache.ts'
import { limits } from '../../util/limits/limits.ts'
import { endSocket } from '../../util/sockets/end-socket.ts'
import { systemDeadlines, timed } from '../../util/time/deadline.ts'
import type { HttpHandler } from '../exchange.ts'
import { notBegun, requestHeader } from '../header-fields.ts'
import { FastRequest } from './fast-request.ts'
import { FastReply } from './fast-response.ts'
import { handleInTurn, type NodeHost } from './host.ts'
import { type RequestHead, readHead } from './request-head.ts'

/** What the connections of one listener share. */
export interface FastHost extends NodeHost {
  readonly service: HttpHandler
  /** Time in which the first bytes must arrive; 0 for no limit. */
  readonly headersMs: number
  /** Time for which an idle connection is kept for another request; 0 for no limit. */
  readonly idleMs: number
  /** Whether each connection is closed after its next response. */
  isRetired: boolean
  /** Hands a connection over to `node:http`, with the bytes of the request that has begun to arrive. */
  handOver(socket: Socket, bytes: Buffer): void
}

/**
 * Serves HTTP/1.1 requests that arrive in one chunk and use only common headers, at about half the CPU
 * cost of `node:http`. The first request that does not qualify hands the socket over to `node:http`,
 * from the start of that request and for the rest of the connection, so a partial request is never held
 * here.
 */
export class FastConnection {
  readonly socket: Socket
  readonly #host: FastHost
  /** The latest head, parsed and as text: a client sends the same one with most requests. */
  #headText = ''
  #head: RequestHead | undefined
  /** Caches the `_meta` of bodies, which a client repeats as well. */
  #metaCache: MetaCache | undefined
  #reply: FastReply | undefined
  /** Bytes that arrived while a response was pending. */
  #pipelined: Buffer | undefined
  /** The bytes read since further requests were dropped; the response in progress is then the last. */
  #droppedBytes: number | undefined
  #hasEnded = false
  /** Whether no further request is accepted. */
  #isEnding = false
  readonly #timeout = timed(() => this.#expire())

  constructor(socket: Socket, host: FastHost) {
    this.socket = socket
    this.#host = host
    socket.on('data', this.#onData)
    socket.on('end', this.#onEnd)
    socket.on('close', this.#onClose)
    socket.on('drain', this.#onDrain)
    socket.on('error', ignore)
    this.#wait(host.headersMs)
  }

  /** Whether no response is pending and everything written has been sent. */
  get isIdle(): boolean {
    const isDone = this.#reply === undefined || this.#isEnding
    return isDone && this.socket.writableLength === 0
  }

  /** Closes the connection if it is idle. A request that is on its way is told that it was not begun. */
  closeIfIdle(): void {
    if (this.isIdle) this.#end(closingResponse)
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#reply === undefined) {
      this.#take(chunk)
      return
    }
    const max = limits.httpPipelinedBytes.default
    if (this.#droppedBytes !== undefined) {
      this.#droppedBytes += chunk.length
      if (this.#droppedBytes > max) this.socket.destroy()
      return
    }
    const pipelined =
      this.#pipelined === undefined ? chunk : Buffer.concat([this.#pipelined, chunk])
    this.#pipelined = pipelined
    if (pipelined.length <= max || this.socket.isPaused()) return
    this.socket.pause()
    this.#wait(limits.httpPipelinedMs.default)
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true
    // A client that half-closes the connection has gone. A response that is already queued is still
    // sent.
    if (!this.#reply?.isSent) this.#end()
  }

  readonly #onClose = (): void => {
    systemDeadlines.stop(this.#timeout)
    this.#pipelined = undefined
    this.#reply?.disconnected()
  }

  readonly #onDrain = (): void => {
    if (this.#reply?.isComplete) this.#next()
  }

  #take(bytes: Buffer): void {
    systemDeadlines.stop(this.#timeout)
    const end = bytes.indexOf(headEnd)
    const isWhole = end !== -1 && end <= maxHeaderSize
    const head = !isWhole ? undefined : this.#headOf(bytes.toString('latin1', 0, end))
    const start = end + headEnd.length
    if (head === undefined || bytes.length < start + head.bodyBytes) {
      this.#handOver(bytes)
      return
    }
    const stop = start + head.bodyBytes
    if (stop < bytes.length) this.#pipelined = bytes.subarray(stop)
    this.#metaCache ??= new MetaCache()
    const body = bytes.subarray(start, stop)
    const request = new FastRequest(head, body, this.socket, this.#metaCache, this.#host)
    const reply = new FastReply(this.socket, this.#host, this.#onResponse)
    this.#reply = reply
    handleInTurn(this.#host.service, request, reply, this.#host)
  }

  #headOf(text: string): RequestHead | undefined {
    if (text !== this.#headText) {
      this.#head = readHead(text, limits.httpHeaderFields.default)
      this.#headText = text
    }
    return this.#head
  }

  #handOver(bytes: Buffer): void {
    const { socket } = this
    socket.off('data', this.#onData)
    socket.off('end', this.#onEnd)
    socket.off('close', this.#onClose)
    socket.off('drain', this.#onDrain)
    socket.off('error', ignore)
    this.#host.handOver(socket, bytes)
  }

  /** The response has been written to the socket. With `isLast` the connection is closed after it. */
  readonly #onResponse = (isLast: boolean): void => {
    if (isLast) this.#end()
    // A client that keeps sending requests and does not read gets no further responses.
    else if (!this.socket.writableNeedDrain) this.#next()
  }

  #next(): void {
    const { socket } = this
    const pipelined = this.#pipelined
    const isPaused = socket.isPaused()
    if (isPaused) systemDeadlines.stop(this.#timeout)
    this.#reply = undefined
    this.#pipelined = undefined
    if (socket.destroyed || socket.writableEnded) return
    if (this.#hasEnded || this.#droppedBytes !== undefined) this.#end()
    else if (pipelined !== undefined) {
      if (isPaused) socket.resume()
      this.#take(pipelined)
    } else this.#wait(this.#host.idleMs)
  }

  #wait(ms: number): void {
    if (ms > 0) systemDeadlines.start(this.#timeout, ms)
  }

  #expire(): void {
    if (this.#reply !== undefined) this.#dropPipelined()
    else if (this.socket.bytesRead === 0) this.#end(requestTimeout)
    else this.#end()
  }

  /** Reads on without keeping anything, because a paused socket does not report that the client disconnects. */
  #dropPipelined(): void {
    this.#pipelined = undefined
    this.#droppedBytes = 0
    this.socket.resume()
  }

  /** Sends what is unsent and closes the connection, in bounded time. */
  #end(text?: string): void {
    const { socket } = this
    if (this.#isEnding) return
    this.#isEnding = true
    this.#pipelined = undefined
    socket.off('data', this.#onData)
    endSocket(socket, { text, stallMs: socket.writableLength > 0 ? this.#stallMs : undefined })
  }

  get #stallMs(): number {
    return this.#host.outbound.stallMs ?? limits.stallMs.default
  }
}

const requestTimeout =
  'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'

const closingResponse = requestTimeout.replace(/\r\n$/, `${requestHeader}: ${notBegun}\r\n\r\n`)

const headEnd = Buffer.from('\r\n\r\n')

function ignore(): void {}
