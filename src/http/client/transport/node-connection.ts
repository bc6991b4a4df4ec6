import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { ChannelError } from '../../../jsonrpc/channel.ts'
import { limits } from '../../../util/limits/limits.ts'
import { addressText } from '../../../util/text/address-text.ts'
import type { Clock, Timer } from '../../../util/time/clock.ts'
import type { Traffic } from '../../../util/traffic.ts'
import { lostFailure, unsentFailure } from '../errors.ts'
import type { HttpResponse, OutgoingRequest } from './http-client.ts'
import { NodeResponse, type ResponseSource } from './node-response.ts'
import { type ResponseHead, ResponseParser, type ResponseSink } from './response-parser.ts'

/** The pool that owns connections. */
export interface ConnectionHost {
  readonly clock: Clock
  readonly traffic: Traffic | undefined
  /** The authorities to trust, as PEM; those of Node.js by default. */
  readonly ca: string | undefined
  /** Called when a connection is idle after a response. It may be reused for `ms` milliseconds. */
  keep(connection: NodeConnection, ms: number): void
  /** Called when a connection has closed. */
  forget(connection: NodeConnection): void
}

/** One request in flight or queued, and its response. */
export class PendingRequest {
  readonly request: OutgoingRequest
  readonly serialized: string | Buffer
  readonly resolve: (response: HttpResponse) => void
  readonly reject: (error: unknown) => void
  /** Called when the request needs its connection no more. */
  onFinish: (() => void) | undefined
  response: NodeResponse | undefined

  constructor(
    request: OutgoingRequest,
    serialized: string | Buffer,
    resolve: (response: HttpResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.request = request
    this.serialized = serialized
    this.resolve = resolve
    this.reject = reject
  }

  /** Fails the request, or its response if that has begun. */
  fail(error: unknown): void {
    if (this.response === undefined) this.reject(error)
    else this.response.fail(error)
  }

  finish(): void {
    this.request.handle.onAbort = undefined
    this.onFinish?.()
    this.onFinish = undefined
  }

  get what(): string {
    return `${this.request.method} ${addressText(this.request.url)}`
  }
}

/** One connection and the request it currently carries. */
export class NodeConnection implements ResponseSink, ResponseSource {
  readonly #host: ConnectionHost
  readonly #socket: Socket
  readonly #parser = new ResponseParser(this, limits.httpResponseHeaderBytes.default)
  #pending: PendingRequest | undefined
  /** Whether anything of the request may have been sent. */
  #isSent = false
  #connectTimer: Timer | undefined
  #error: Error | undefined
  #isPaused = false
  /** The time until which the connection may be reused. */
  keptUntil = 0
  /** Read when the connection opens, because a socket forgets it when it closes. */
  remoteAddress: string | undefined

  /** Opens a connection for a request. */
  constructor(host: ConnectionHost, pending: PendingRequest) {
    this.#host = host
    this.#attach(pending)
    const { url } = pending.request
    const isSecure = url.protocol === 'https:'
    const socket = isSecure ? secureSocket(url, host.ca) : connectTcp(hostAndPort(url))
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
    this.#connectTimer = host.clock.start(() => {
      const ms = limits.handshakeMs.default
      this.#error = new Error(`no connection within ${ms} ms`)
      this.destroy()
    }, limits.handshakeMs.default)
  }

  /** Whether the server has not begun to close the connection. */
  get isUsable(): boolean {
    return this.#socket.readyState === 'open'
  }

  /** Sends another request. */
  send(pending: PendingRequest): void {
    this.#socket.ref()
    this.#attach(pending)
    this.#write(pending)
  }

  destroy(): void {
    this.#socket.destroy()
  }

  head(head: ResponseHead): void {
    const pending = this.#pending
    if (pending === undefined) return
    const packed = head.headers.get('content-encoding')
    if (packed !== undefined && packed.toLowerCase() !== 'identity') {
      const words = `was answered with the content-encoding ${packed}, which is not supported`
      pending.reject(new ChannelError('framing', `${pending.what} ${words}`))
      this.abandon()
      return
    }
    pending.response = new NodeResponse(head, this)
    pending.resolve(pending.response)
  }

  piece(bytes: Uint8Array): void {
    this.#pending?.response?.push(bytes)
  }

  end(isLast: boolean): void {
    const pending = this.#pending
    if (pending?.response === undefined) return
    const keepAliveMs =
      isLast || !this.#isFlushed ? 0 : keepAliveMsOf(pending.response.header('keep-alive'))
    this.#pending = undefined
    pending.response.end()
    if (keepAliveMs > 0) {
      this.resume()
      // Only a connection in use keeps the process alive.
      this.#socket.unref()
      this.#host.keep(this, keepAliveMs)
    } else this.destroy()
    pending.finish()
  }

  invalid(why: string): void {
    this.#error = new Error(`invalid response: ${why}`)
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

  abandon(): void {
    const pending = this.#pending
    this.#pending = undefined
    this.#parser.stop()
    this.destroy()
    pending?.finish()
  }

  /** Whether the whole request has been sent: a server may respond before it has read the request. */
  get #isFlushed(): boolean {
    return this.#socket.writableLength === 0
  }

  #attach(pending: PendingRequest): void {
    this.#pending = pending
    const { handle } = pending.request
    handle.onAbort = () => {
      if (this.#pending !== pending) return
      pending.fail(handle.reason)
      this.abandon()
    }
  }

  #write(pending: PendingRequest): void {
    this.#isSent = true
    this.#parser.begin()
    const { serialized } = pending
    if (typeof serialized === 'string') this.#socket.write(serialized, 'utf8')
    else this.#socket.write(serialized)
  }

  #onOpen(): void {
    if (this.#connectTimer !== undefined) this.#host.clock.stop(this.#connectTimer)
    this.#connectTimer = undefined
    this.remoteAddress = this.#socket.remoteAddress
    if (this.#pending !== undefined) this.#write(this.#pending)
  }

  #onData(chunk: Buffer): void {
    this.#parser.push(chunk)
    if (this.#pending?.response?.isFull === true) this.pause()
  }

  #onEnd(): void {
    // An idle connection is of no more use. The end of the connection may also be the end of a
    // body.
    if (!this.#parser.finish()) this.destroy()
  }

  #onClose(): void {
    if (this.#connectTimer !== undefined) this.#host.clock.stop(this.#connectTimer)
    this.#host.forget(this)
    const pending = this.#pending
    if (pending === undefined) return
    this.#pending = undefined
    const error = this.#error ?? new Error('the connection closed before the end of the response')
    pending.fail(
      this.#isSent ? lostFailure(pending.what, error) : unsentFailure(pending.what, error),
    )
    pending.finish()
  }
}

function hostAndPort({ hostname, port, protocol }: URL): { host: string; port: number } {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  const defaultPort = protocol === 'https:' ? 443 : 80
  return { host, port: port === '' ? defaultPort : Number(port) }
}

function secureSocket(url: URL, ca: string | undefined): Socket {
  const place = hostAndPort(url)
  // TLS sends names only. For an IP address the certificate is checked all the same.
  const servername = isIP(place.host) === 0 ? place.host : ''
  // Regardless of the environment (`NODE_TLS_REJECT_UNAUTHORIZED`): an unverified certificate is no
  // better than none.
  const checks = { rejectUnauthorized: true, ...(ca !== undefined && { ca }) }
  return connectTls({ ...place, servername, ...checks, ALPNProtocols: ['http/1.1'] })
}

/**
 * Returns how long a connection may be kept, according to the `Keep-Alive` header; one second less,
 * because the server's timeout started earlier.
 */
function keepAliveMsOf(keepAlive: string | null): number {
  const maxLength = limits.httpKeepAliveMs.default
  if (keepAlive === null) return maxLength
  const named = /(?:^|[ ,])timeout=(\d{1,9})/i.exec(keepAlive)?.[1]
  return named === undefined ? maxLength : Math.min(maxLength, Number(named) * 1000 - 1000)
}
