import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { UnreadOutput } from '../../util/sockets/unread.ts'
import { type EventStream, eventStream, type HttpReply, type ReplyHeaders } from '../exchange.ts'
import { NodeStream, type StreamChunk, type StreamOutput } from './event-stream.ts'
import type { NodeHost } from './host.ts'
import { type Flushable, writeBatch } from './write-batch.ts'

/** What the responses of one listener share. */
export interface FastReplyHost extends NodeHost {
  /**
   * Time for which an idle connection is kept for another request, which the response announces; 0 for
   * no limit.
   */
  readonly idleMs: number
  /** Whether the connection is closed after the response, which the response announces. */
  readonly isRetired: boolean
}

/** The response to a request on the fast path, written to the socket in one piece wherever possible. */
export class FastReply implements HttpReply, Flushable {
  readonly #socket: Socket
  readonly #host: FastReplyHost
  readonly #onComplete: (isLast: boolean) => void
  #isSent = false
  #isComplete = false
  #head = ''
  #body: string | undefined
  /** Whether the response has no body and therefore no `Content-Length`. */
  #isBare = false
  #isLast = false
  #stream: NodeStream | undefined
  /** Called when the client disconnects. */
  #onDisconnect: (() => void)[] | undefined

  constructor(socket: Socket, host: FastReplyHost, onComplete: (isLast: boolean) => void) {
    this.#socket = socket
    this.#host = host
    this.#onComplete = onComplete
  }

  get isFinished(): boolean {
    return this.#isSent || this.#socket.destroyed || (this.#stream?.isEnded ?? false)
  }

  /**
   * Whether the whole response is known. It is written at the end of this turn, if it has not been
   * written yet.
   */
  get isSent(): boolean {
    return this.#isSent
  }

  /** Whether the whole response has been written to the socket. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  send(status: number, headers: ReplyHeaders, body?: string): void {
    if (this.isFinished) return
    const { idleMs, isRetired } = this.#host
    this.#head = headOf(status, headers, isRetired ? lastResponse : idleMs)
    this.#isSent = true
    this.#body = body
    this.#isBare = status === 204
    this.#isLast = isRetired || headers.connection === 'close'
    // Long texts of one turn would all be in memory together.
    if (body !== undefined && body.length > maxJoinedBytes) this.flush()
    else writeBatch.add(this)
  }

  flush(): void {
    if (this.#socket.destroyed) return
    const body = this.#body ?? ''
    const bytes = Buffer.byteLength(body)
    const size = this.#isBare ? '' : `content-length: ${bytes}\r\n`
    // ASCII is the same in Latin-1, which Node copies without encoding.
    const encoding = bytes === body.length ? 'latin1' : 'utf8'
    if (bytes > maxJoinedBytes) {
      // Joined, the whole text would be copied once more; corked, Node would keep both copies.
      this.#socket.write(`${this.#head}${size}\r\n`, 'latin1')
      this.#socket.write(body, encoding)
    } else this.#socket.write(`${this.#head}${size}\r\n${body}`, encoding)
    // This object stays until the client has read the response.
    this.#body = undefined
    if (this.#socket.writableLength > 0) this.#host.unread.written(this.#socket)
    this.#complete(this.#isLast)
  }

  stream(headers: ReplyHeaders): EventStream {
    const fields = { ...headers, ...eventStream }
    const { idleMs, isRetired, unread } = this.#host
    const head = headOf(200, fields, isRetired ? lastResponse : idleMs)
    const onEnd = (): void => this.#complete(isRetired)
    const output = new FastStreamOutput(this.#socket, head, unread, onEnd)
    this.#stream = new NodeStream(output, this.#host.outbound)
    return this.#stream
  }

  onDisconnect(listener: () => void): void {
    if (this.#onDisconnect === undefined) this.#onDisconnect = [listener]
    else this.#onDisconnect.push(listener)
  }

  /** Called when the connection has closed. */
  disconnected(): void {
    if (!this.#isComplete) for (const listener of this.#onDisconnect ?? []) listener()
  }

  #complete(isLast: boolean): void {
    this.#isComplete = true
    this.#onComplete(isLast)
  }
}

/**
 * An event stream as the body of a response: chunked, or with `Content-Length` where it ends at once.
 */
class FastStreamOutput implements StreamOutput {
  readonly #socket: Socket
  readonly #head: string
  readonly #unread: UnreadOutput
  readonly #onEnd: () => void
  #isEnded = false

  constructor(socket: Socket, head: string, unread: UnreadOutput, onEnd: () => void) {
    this.#socket = socket
    this.#head = head
    this.#unread = unread
    this.#onEnd = onEnd
  }

  get isFinished(): boolean {
    return this.#isEnded || this.#socket.destroyed
  }

  get bufferedBytes(): number {
    return this.#socket.writableLength
  }

  write({ text, bytes, encoding, isFirst, isLast }: StreamChunk): void {
    const chunk = bytes === 0 ? '' : `${bytes.toString(16)}\r\n${text}\r\n`
    const end = isLast ? '0\r\n\r\n' : ''
    if (!isFirst) this.#socket.write(chunk + end, encoding)
    else if (isLast)
      this.#socket.write(`${this.#head}content-length: ${bytes}\r\n\r\n${text}`, encoding)
    else this.#socket.write(`${this.#head}transfer-encoding: chunked\r\n\r\n${chunk}`, encoding)
    if (this.#socket.writableLength > 0) this.#unread.written(this.#socket)
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

/** Instead of the time for which the connection is kept: it is closed after the response. */
const lastResponse = -1

/** A longer body is not joined with its head. */
const maxJoinedBytes = 64 * 1024

/**
 * Formats the head of a response up to the header that gives its size. Throws a TypeError for a header
 * value that could be misread.
 */
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
    if (!fieldValue.test(value)) throw new TypeError(`the header ${name} has an invalid value`)
    text += `${name}: ${value}\r\n`
  }
  text += `Date: ${heads.date}\r\n`
  if (idleMs === lastResponse) {
    if (headers.connection === undefined) text += 'Connection: close\r\n'
  } else if (headers.connection === undefined) {
    text += 'Connection: keep-alive\r\n'
    if (idleMs > 0) text += `Keep-Alive: timeout=${Math.floor(idleMs / 1000)}\r\n`
  }
  heads.latest = { headers, status, idleMs, text }
  return text
}

// ASCII only, so that the head can be written together with any body.
const fieldValue = /^[\t\x20-\x7e]*$/

/** The head last written. Nearly all responses of one second have the same head. */
const heads = {
  second: 0,
  date: '',
  latest: { headers: {} as ReplyHeaders, status: 0, idleMs: 0, text: '' },
}
