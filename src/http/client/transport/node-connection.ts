import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { ChannelError } from '../../../jsonrpc/channel.ts'
import { limits } from '../../../util/limits/limits.ts'
import type { Clock, Timer } from '../../../util/time/clock.ts'
import type { Traffic } from '../../../util/traffic.ts'
import { lostFailure, unsentFailure } from '../errors.ts'
import type { Answer, Carried } from './http-client.ts'
import { type AnswerSource, NodeAnswer } from './node-response.ts'
import { type ResponseHead, ResponseReader, type ResponseSink } from './response-parser.ts'

/** Whoever the connections belong to. */
export interface ConnectionHost {
  readonly clock: Clock
  readonly traffic: Traffic | undefined
  /** A connection has answered, and may be used again for so long. */
  keep(connection: Connection, ms: number): void
  /** A connection has ended. */
  forget(connection: Connection): void
}

/** One request on its way, and the answer to it. */
export class Job {
  readonly request: Carried
  readonly written: string | Buffer
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
  /** Told when it needs its connection no more. */
  onOver: (() => void) | undefined
  answer: NodeAnswer | undefined

  constructor(
    request: Carried,
    written: string | Buffer,
    resolve: (answer: Answer) => void,
    reject: (error: unknown) => void,
  ) {
    this.request = request
    this.written = written
    this.resolve = resolve
    this.reject = reject
  }

  /** It has failed, or its answer has. */
  fail(error: unknown): void {
    if (this.answer === undefined) this.reject(error)
    else this.answer.fail(error)
  }

  over(): void {
    this.request.hold.onDrop = undefined
    this.onOver?.()
    this.onOver = undefined
  }

  get what(): string {
    return `${this.request.method} ${this.request.url.href}`
  }
}

/** One connection, and the request that it carries at the time. */
export class Connection implements ResponseSink, AnswerSource {
  readonly #host: ConnectionHost
  readonly #socket: Socket
  readonly #reader = new ResponseReader(this, limits.httpAnswerHeadBytes.default)
  #job: Job | undefined
  /** Whether anything of the request may have left. */
  #isSent = false
  #opening: Timer | undefined
  #error: Error | undefined
  #isPaused = false
  /** Until when it may be used again. */
  keptUntil = 0

  /** Opens a connection for a request. */
  constructor(host: ConnectionHost, job: Job) {
    this.#host = host
    this.#hang(job)
    const { url } = job.request
    const isSecure = url.protocol === 'https:'
    const socket = isSecure ? secureSocket(url) : connectTcp(placeOf(url))
    this.#socket = socket
    host.traffic?.watch(socket)
    socket.setNoDelay(true)
    socket.once(isSecure ? 'secureConnect' : 'connect', () => this.#onOpen())
    socket.on('data', chunk => this.#onData(chunk))
    socket.on('end', () => this.#onEnd())
    socket.on('error', error => {
      this.#error = error
    })
    socket.on('close', () => this.#onClose())
    this.#opening = host.clock.start(() => {
      const ms = limits.handshakeMs.default
      this.#error = new Error(`no connection within ${ms} ms`)
      this.destroy()
    }, limits.handshakeMs.default)
  }

  /** Whether the other side has given no sign of leaving. */
  get isUsable(): boolean {
    return this.#socket.readyState === 'open'
  }

  /** Sends another request. */
  send(job: Job): void {
    this.#socket.ref()
    this.#hang(job)
    this.#write(job)
  }

  destroy(): void {
    this.#socket.destroy()
  }

  head(head: ResponseHead): void {
    const job = this.#job
    if (job === undefined) return
    const packed = head.headers.get('content-encoding')
    if (packed !== undefined && packed.toLowerCase() !== 'identity') {
      const words = `was answered with the content-encoding ${packed}, which is not unpacked`
      job.reject(new ChannelError('framing', `${job.what} ${words}`))
      this.leave()
      return
    }
    job.answer = new NodeAnswer(head, this)
    job.resolve(job.answer)
  }

  piece(bytes: Uint8Array): void {
    this.#job?.answer?.push(bytes)
  }

  end(isLast: boolean): void {
    const job = this.#job
    if (job?.answer === undefined) return
    const spareMs = isLast || !this.#isFlushed ? 0 : spareMsOf(job.answer.header('keep-alive'))
    this.#job = undefined
    job.answer.end()
    if (spareMs > 0) {
      this.resume()
      // Only what is wanted keeps the process alive.
      this.#socket.unref()
      this.#host.keep(this, spareMs)
    } else this.destroy()
    job.over()
  }

  wrong(why: string): void {
    this.#error = new Error(`the answer holds ${why}`)
    this.destroy()
  }

  pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.#socket.pause()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket.resume()
  }

  leave(): void {
    const job = this.#job
    this.#job = undefined
    this.#reader.stop()
    this.destroy()
    job?.over()
  }

  /** Whether the whole request has left: a server may answer before it has read it. */
  get #isFlushed(): boolean {
    return this.#socket.writableLength === 0
  }

  #hang(job: Job): void {
    this.#job = job
    const { hold } = job.request
    hold.onDrop = () => {
      if (this.#job !== job) return
      job.fail(hold.reason)
      this.leave()
    }
  }

  #write(job: Job): void {
    this.#isSent = true
    this.#reader.begin()
    const { written } = job
    if (typeof written === 'string') this.#socket.write(written, 'utf8')
    else this.#socket.write(written)
  }

  #onOpen(): void {
    if (this.#opening !== undefined) this.#host.clock.stop(this.#opening)
    this.#opening = undefined
    if (this.#job !== undefined) this.#write(this.#job)
  }

  #onData(chunk: Buffer): void {
    this.#reader.push(chunk)
    if (this.#job?.answer?.isFull === true) this.pause()
  }

  #onEnd(): void {
    // One that is kept has nothing to say; the body of another may end like this.
    if (!this.#reader.finish()) this.destroy()
  }

  #onClose(): void {
    if (this.#opening !== undefined) this.#host.clock.stop(this.#opening)
    this.#host.forget(this)
    const job = this.#job
    if (job === undefined) return
    this.#job = undefined
    const error = this.#error ?? new Error('the connection ended before the answer did')
    job.fail(this.#isSent ? lostFailure(job.what, error) : unsentFailure(job.what, error))
    job.over()
  }
}

function placeOf({ hostname, port, protocol }: URL): { host: string; port: number } {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  const usual = protocol === 'https:' ? 443 : 80
  return { host, port: port === '' ? usual : Number(port) }
}

function secureSocket(url: URL): Socket {
  const place = placeOf(url)
  // Names only: addresses are not sent ahead, but looked for in the certificate all the same.
  const servername = isIP(place.host) === 0 ? place.host : ''
  // Whatever the environment says: an unchecked certificate is no better than none.
  return connectTls({ ...place, servername, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] })
}

/** How long a connection may be kept, by what its server says; shorter, as it counts from earlier on. */
function spareMsOf(keepAlive: string | null): number {
  const longest = limits.httpSpareMs.default
  if (keepAlive === null) return longest
  const named = /(?:^|[ ,])timeout=(\d{1,9})/i.exec(keepAlive)?.[1]
  return named === undefined ? longest : Math.min(longest, Number(named) * 1000 - 1000)
}
