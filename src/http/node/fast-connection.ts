import { maxHeaderSize } from 'node:http'
import type { Socket } from 'node:net'
import { Repeats } from '../../jsonrpc/codec/repeated-meta.ts'
import { limits } from '../../util/limits/limits.ts'
import { systemDeadlines, timed } from '../../util/time/deadline.ts'
import type { HttpHandler, OutboundOptions } from '../exchange.ts'
import { PlainRequest } from './fast-request.ts'
import { PlainReply } from './fast-response.ts'
import { type RequestHead, readHead } from './request-head.ts'

/** What the connections of one listener have in common. */
export interface PlainHost {
  readonly service: HttpHandler
  readonly outbound: OutboundOptions
  /** How long a connection may say nothing at first; 0 for ever. */
  readonly silentMs: number
  /** How long it is kept for a further request; 0 for ever. */
  readonly idleMs: number
  /** Takes a connection over that asks in an unusual way, with the bytes that have come. */
  handOver(socket: Socket, bytes: Buffer): void
}

/**
 * A connection whose requests arrive whole and are written in the usual way, as nearly all are: read
 * and answered here, at half of what Node's own reading costs. With the first one that is not, the
 * connection goes to whoever reads everything, at the beginning of that request and for good, so that
 * nothing is ever half read here, and nothing waited for.
 */
export class PlainConnection {
  readonly socket: Socket
  readonly #host: PlainHost
  /** The latest head: a client repeats itself. */
  #headText = ''
  #head: RequestHead | undefined
  /** So do its bodies. */
  #repeats: Repeats | undefined
  #reply: PlainReply | undefined
  /** What has come while a request was being answered. */
  #ahead: Buffer | undefined
  #hasEnded = false
  readonly #lapse = timed(() => this.#expire())

  constructor(socket: Socket, host: PlainHost) {
    this.socket = socket
    this.#host = host
    socket.on('data', this.#onData)
    socket.on('end', this.#onEnd)
    socket.on('close', this.#onClose)
    socket.on('drain', this.#onDrain)
    socket.on('error', ignore)
    this.#wait(host.silentMs)
  }

  /** Whether nothing is being answered and nothing waits to leave. */
  get isIdle(): boolean {
    return this.#reply === undefined && this.socket.writableLength === 0
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#reply === undefined) {
      this.#take(chunk)
      return
    }
    const ahead = this.#ahead === undefined ? chunk : Buffer.concat([this.#ahead, chunk])
    this.#ahead = ahead
    if (ahead.length > limits.httpAheadBytes.default) this.socket.pause()
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true
    // Whoever ends a connection has gone; an answer that is on its way is let out.
    if (!this.#reply?.isSent) this.socket.end()
  }

  readonly #onClose = (): void => {
    systemDeadlines.stop(this.#lapse)
    this.#ahead = undefined
    this.#reply?.gone()
  }

  readonly #onDrain = (): void => {
    if (this.#reply?.isComplete) this.#next()
  }

  #take(bytes: Buffer): void {
    systemDeadlines.stop(this.#lapse)
    const end = bytes.indexOf(headEnd)
    const isWhole = end !== -1 && end <= maxHeaderSize
    const head = !isWhole ? undefined : this.#headOf(bytes.toString('latin1', 0, end))
    const start = end + headEnd.length
    if (head === undefined || bytes.length < start + head.bodyBytes) {
      this.#handOver(bytes)
      return
    }
    const stop = start + head.bodyBytes
    if (stop < bytes.length) this.#ahead = bytes.subarray(stop)
    this.#repeats ??= new Repeats()
    const body = bytes.subarray(start, stop)
    const request = new PlainRequest(head, body, this.socket, this.#repeats)
    const reply = new PlainReply(this.socket, this.#host, this.#onAnswered)
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

  /** The answer has been passed to the socket; with `isLast` it is to be the last one. */
  readonly #onAnswered = (isLast: boolean): void => {
    if (isLast) this.socket.destroySoon()
    // Who asks and asks and does not read is not answered any further.
    else if (!this.socket.writableNeedDrain) this.#next()
  }

  #next(): void {
    const { socket } = this
    const ahead = this.#ahead
    this.#reply = undefined
    this.#ahead = undefined
    if (socket.destroyed || socket.writableEnded) return
    if (this.#hasEnded) socket.end()
    else if (ahead !== undefined) {
      if (socket.isPaused()) socket.resume()
      this.#take(ahead)
    } else this.#wait(this.#host.idleMs)
  }

  #wait(ms: number): void {
    if (ms > 0) systemDeadlines.start(this.#lapse, ms)
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
