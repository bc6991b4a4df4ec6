import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import {
  type EventStream,
  eventStream,
  type HttpReply,
  type OutboundOptions,
  type ReplyHeaders,
} from '../exchange.ts'
import { NodeStream, type StreamPiece, type StreamWay } from './event-stream.ts'
import { departures, type Outgoing } from './write-batch.ts'

/** What the answers on one listener have in common. */
export interface PlainReplyHost {
  readonly outbound: OutboundOptions
  /** How long a connection is kept for a further request, which clients are told; 0 for ever. */
  readonly idleMs: number
}

/** The answer to a request, written to the connection in one piece wherever it can be. */
export class PlainReply implements HttpReply, Outgoing {
  readonly #socket: Socket
  readonly #host: PlainReplyHost
  readonly #onComplete: (isLast: boolean) => void
  #isSent = false
  #isComplete = false
  #head = ''
  #body: string | undefined
  /** Whether there can be no body, and so no word of its size. */
  #isBare = false
  #isLast = false
  #stream: NodeStream | undefined
  /** Whoever is to be told when the client goes. */
  #gone: (() => void)[] | undefined

  constructor(socket: Socket, host: PlainReplyHost, onComplete: (isLast: boolean) => void) {
    this.#socket = socket
    this.#host = host
    this.#onComplete = onComplete
  }

  get isOver(): boolean {
    return this.#isSent || this.#socket.destroyed || (this.#stream?.isEnded ?? false)
  }

  /** Whether it is known as a whole, and leaves at the end of this turn if it has not left. */
  get isSent(): boolean {
    return this.#isSent
  }

  /** Whether all of it has been passed to the connection. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  send(status: number, headers: ReplyHeaders, body?: string): void {
    if (this.isOver) return
    this.#head = headOf(status, headers, this.#host.idleMs)
    this.#isSent = true
    this.#body = body
    this.#isBare = status === 204
    this.#isLast = headers.connection === 'close'
    departures.add(this)
  }

  leave(): void {
    if (this.#socket.destroyed) return
    const body = this.#body ?? ''
    const bytes = Buffer.byteLength(body)
    const size = this.#isBare ? '' : `content-length: ${bytes}\r\n`
    const text = `${this.#head}${size}\r\n${body}`
    // Plain ASCII can be copied as it is.
    this.#socket.write(text, bytes === body.length ? 'latin1' : 'utf8')
    this.#complete(this.#isLast)
  }

  stream(headers: ReplyHeaders): EventStream {
    const fields = { ...headers, ...eventStream }
    const way = new PlainWay(this.#socket, headOf(200, fields, this.#host.idleMs), () => {
      this.#complete(false)
    })
    this.#stream = new NodeStream(way, this.#host.outbound)
    return this.#stream
  }

  onGone(listener: () => void): void {
    if (this.#gone === undefined) this.#gone = [listener]
    else this.#gone.push(listener)
  }

  /** The connection has ended. */
  gone(): void {
    if (!this.#isComplete) for (const tell of this.#gone ?? []) tell()
  }

  #complete(isLast: boolean): void {
    this.#isComplete = true
    this.#onComplete(isLast)
  }
}

/** An event stream as the body of an answer: in chunks, or with its size where it is over at once. */
class PlainWay implements StreamWay {
  readonly #socket: Socket
  readonly #head: string
  readonly #onEnd: () => void
  #isEnded = false

  constructor(socket: Socket, head: string, onEnd: () => void) {
    this.#socket = socket
    this.#head = head
    this.#onEnd = onEnd
  }

  get isOver(): boolean {
    return this.#isEnded || this.#socket.destroyed
  }

  get waitingBytes(): number {
    return this.#socket.writableLength
  }

  pass({ text, bytes, encoding, isFirst, isLast }: StreamPiece): void {
    const chunk = bytes === 0 ? '' : `${bytes.toString(16)}\r\n${text}\r\n`
    const end = isLast ? '0\r\n\r\n' : ''
    if (!isFirst) this.#socket.write(chunk + end, encoding)
    else if (isLast)
      this.#socket.write(`${this.#head}content-length: ${bytes}\r\n\r\n${text}`, encoding)
    else this.#socket.write(`${this.#head}transfer-encoding: chunked\r\n\r\n${chunk}`, encoding)
    if (!isLast) return
    this.#isEnded = true
    this.#onEnd()
  }

  cut(): void {
    this.#socket.destroy()
  }

  watch(listener: () => void): () => void {
    const socket = this.#socket
    socket.on('drain', listener).on('close', listener)
    return () => void socket.off('drain', listener).off('close', listener)
  }
}

/** The beginning of an answer, up to what tells its size. Throws for a header that could be read as something else. */
function headOf(status: number, headers: ReplyHeaders, idleMs: number): string {
  const now = Math.floor(Date.now() / 1000)
  const { latest } = heads
  if (now !== heads.second) {
    heads.second = now
    heads.date = new Date(now * 1000).toUTCString()
  } else if (latest.headers === headers && latest.status === status && latest.idleMs === idleMs) {
    return latest.text
  }
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n`
  for (const [name, value] of Object.entries(headers)) {
    if (!fieldValue.test(value)) throw new TypeError(`the header ${name} cannot be written`)
    text += `${name}: ${value}\r\n`
  }
  text += `Date: ${heads.date}\r\n`
  if (headers.connection === undefined) {
    text += 'Connection: keep-alive\r\n'
    if (idleMs > 0) text += `Keep-Alive: timeout=${Math.floor(idleMs / 1000)}\r\n`
  }
  heads.latest = { headers, status, idleMs, text }
  return text
}

// In plain ASCII, so that the head can be written together with any body.
const fieldValue = /^[\t\x20-\x7e]*$/

/** Of the answers of one second, nearly all begin alike. */
const heads = {
  second: 0,
  date: '',
  latest: { headers: {} as ReplyHeaders, status: 0, idleMs: 0, text: '' },
}
