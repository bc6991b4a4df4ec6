import { maxHeaderSize } from 'node:http'
import type { Socket } from 'node:net'
import { MetaCache } from '../../jsonrpc/codec/meta-cache.ts'
import { limits } from '../../util/limits/limits.ts'
import { systemDeadlines, timed } from '../../util/time/deadline.ts'
import type { HttpHandler, OutboundOptions } from '../exchange.ts'
import { FastRequest } from './fast-request.ts'
import { FastReply } from './fast-response.ts'
import { type RequestHead, readHead } from './request-head.ts'

/** What the connections of one listener share. */
export interface FastHost {
  readonly service: HttpHandler
  readonly outbound: OutboundOptions
  /** Time in which the first bytes must arrive; 0 for no limit. */
  readonly headersMs: number
  /** Time for which an idle connection is kept for another request; 0 for no limit. */
  readonly idleMs: number
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
  #hasEnded = false
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
    return this.#reply === undefined && this.socket.writableLength === 0
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#reply === undefined) {
      this.#take(chunk)
      return
    }
    const pipelined =
      this.#pipelined === undefined ? chunk : Buffer.concat([this.#pipelined, chunk])
    this.#pipelined = pipelined
    if (pipelined.length > limits.httpPipelinedBytes.default) this.socket.pause()
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true
    // A client that half-closes the connection has gone. A response that is already queued is still
    // sent.
    if (!this.#reply?.isSent) this.socket.end()
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
    const request = new FastRequest(head, body, this.socket, this.#metaCache)
    const reply = new FastReply(this.socket, this.#host, this.#onResponse)
    this.#reply = reply
    this.#host.service.handle(request, reply)
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
    if (isLast) this.socket.destroySoon()
    // A client that keeps sending requests and does not read gets no further responses.
    else if (!this.socket.writableNeedDrain) this.#next()
  }

  #next(): void {
    const { socket } = this
    const pipelined = this.#pipelined
    this.#reply = undefined
    this.#pipelined = undefined
    if (socket.destroyed || socket.writableEnded) return
    if (this.#hasEnded) socket.end()
    else if (pipelined !== undefined) {
      if (socket.isPaused()) socket.resume()
      this.#take(pipelined)
    } else this.#wait(this.#host.idleMs)
  }

  #wait(ms: number): void {
    if (ms > 0) systemDeadlines.start(this.#timeout, ms)
  }

  #expire(): void {
    const { socket } = this
    if (socket.bytesRead === 0) {
      socket.write('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n')
    }
    socket.destroySoon()
  }
}

const headEnd = Buffer.from('\r\n\r\n')

function ignore(): void {}
