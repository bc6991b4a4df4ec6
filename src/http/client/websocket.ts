import { type Channel, ChannelError, type Sink } from '../../jsonrpc/channel.ts'
import { type Id, isList, type Message, type RpcRequest } from '../../jsonrpc/message.ts'
import { metaKeys } from '../../mcp/meta.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord, ownMember } from '../../util/objects.ts'
import { addressText } from '../../util/text/address-text.ts'
import type { Traffic } from '../../util/traffic.ts'
import { httpChannel } from './channel.ts'
import {
  type HttpClientOptions,
  type HttpHeaders,
  type HttpSettings,
  httpSettings,
} from './options.ts'
import { SocketCalls, type SocketHost } from './websocket-calls.ts'

/** Opens WebSockets, whose transport this folder does not depend on. */
export interface WebSocketDialer {
  /**
   * Opens a WebSocket. Its `send` throws a ChannelError `'too-large'` for a message over
   * `maxMessageLength`.
   */
  dial(url: URL, options: WebSocketDial): Promise<Channel>
  /** Called whenever calls begin to use a WebSocket, and whenever they use HTTP again. */
  onChange?(isOpen: boolean): void
  /** Counts the bytes over HTTP; the dialer counts those of WebSockets. */
  readonly traffic?: Traffic
}

/** Options of opening a WebSocket. */
export interface WebSocketDial {
  readonly headers: HttpHeaders
  /** Maximum length of a message that is sent, in characters. */
  readonly maxMessageLength: number
  readonly signal: AbortSignal
}

/**
 * Makes a channel over HTTP that also uses a WebSocket where the server confirms that it accepts one.
 * Stateless calls then go over the WebSocket, many of them in one write, at a fraction of the cost of a
 * request each. Everything that needs a stream of its own uses HTTP, and so does everything while there
 * is no WebSocket. A WebSocket that is refused or lost is retried later; only the calls that were on it
 * are affected. Callers of the channel cannot distinguish the two.
 */
export function httpWithWebSocket(
  url: URL,
  options: HttpClientOptions,
  dialer: WebSocketDialer,
): Channel {
  const onWebSocketOffer = (isOffered: boolean): void => channel.onWebSocketOffer(isOffered)
  const http = httpChannel(url, options, { onWebSocketOffer, traffic: dialer.traffic })
  const channel: HttpWithWebSocket = new HttpWithWebSocket(url, http, httpSettings(options), dialer)
  return channel
}

class HttpWithWebSocket implements Channel, SocketHost {
  readonly #url: URL
  readonly #http: Channel
  readonly #settings: HttpSettings
  readonly #dialer: WebSocketDialer
  readonly #closing = new AbortController()
  /** All open WebSockets. Only `#socket` gets new calls. */
  readonly #sockets = new Set<SocketCalls>()
  #socket: SocketCalls | undefined
  /** Who is authenticated on `#socket`. */
  #identity: string | undefined
  #sink: Sink | undefined
  #isOffered = false
  /** Whether the WebSocket has turned out to be unsuitable for calls of this size. */
  #isUnfit = false
  #isOpening = false
  /** Number of failed attempts in a row. */
  #failures = 0
  #nextAt = Number.NEGATIVE_INFINITY

  constructor(url: URL, http: Channel, settings: HttpSettings, dialer: WebSocketDialer) {
    this.#url = url
    this.#http = http
    this.#settings = settings
    this.#dialer = dialer
  }

  open(sink: Sink): void {
    this.#sink = sink
    this.#http.open({
      receive: (arrival, envelope) => sink.receive(arrival, envelope),
      failed: (id, error) => sink.failed?.(id, error),
      retired: cause => sink.retired?.(cause),
      suspended: isSuspended => sink.suspended?.(isSuspended),
      closed: cause => {
        void this.#closeSockets()
        sink.closed(cause)
      },
    })
  }

  send(message: Message | readonly Message[]): void | Promise<void> {
    const socket = this.#currentSocket()
    if (socket === undefined) {
      if (this.#isOffered && fitsWebSocket(message)) this.#openSocket()
    } else if (socket.size < limits.websocketCalls.default && fitsWebSocket(message)) {
      try {
        return socket.send(message, message.id)
      } catch {
        // The message is too long for the WebSocket, or it has just closed: nothing was sent, so
        // HTTP can be used.
      }
    }
    return this.#http.send(message)
  }

  abandon(id: Id): void {
    for (const socket of this.#sockets) if (socket.abandon(id)) return
    this.#http.abandon?.(id)
  }

  async close(): Promise<void> {
    await Promise.all([this.#closeSockets(), this.#http.close()])
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Stores whether the server accepts WebSockets, according to its last answer. */
  onWebSocketOffer(isOffered: boolean): void {
    this.#isOffered = isOffered && !this.#isUnfit
    if (this.#isOffered) this.#openSocket()
  }

  receive: SocketHost['receive'] = (arrival, envelope) => this.#sink?.receive(arrival, envelope)

  failed(id: Id, error: ChannelError): void {
    this.#sink?.failed?.(id, error)
  }

  onRetired(socket: SocketCalls): void {
    if (socket !== this.#socket) return
    this.#socket = undefined
    this.#notifyChange(false)
  }

  onEnded(socket: SocketCalls, cause: Error | undefined): void {
    this.#sockets.delete(socket)
    this.onRetired(socket)
    // A WebSocket that has worked is reopened at once; another one may never work.
    if (socket.hasReplied) {
      this.#failures = 0
      this.#nextAt = Number.NEGATIVE_INFINITY
    }
    // The next call of that size would close the WebSocket for all other calls again.
    if (cause instanceof ChannelError && cause.code === 'too-large') {
      this.#isUnfit = true
      this.#isOffered = false
    }
  }

  report(what: string): void {
    const words = `${addressText(this.#url)} sent something unusable: ${what}`
    this.#settings.onError(new ChannelError('framing', words))
  }

  /** Returns the WebSocket for new calls, unless it belongs to somebody who is not authenticated any more. */
  #currentSocket(): SocketCalls | undefined {
    const socket = this.#socket
    if (socket === undefined || this.#settings.auth?.identity === this.#identity) return socket
    this.onRetired(socket)
    socket.closeWhenIdle()
    return undefined
  }

  /** Opens a WebSocket, unless one is open or it is too early to try again. */
  #openSocket(): void {
    if (this.#socket !== undefined || this.#isOpening || this.#closing.signal.aborted) return
    const now = this.#settings.clock.now()
    if (now < this.#nextAt) return
    this.#nextAt = now + limits.websocketRetryMs.default * 2 ** Math.min(this.#failures++, 6)
    this.#isOpening = true
    const identity = this.#settings.auth?.identity
    void this.#dial().then(channel => {
      this.#isOpening = false
      this.#identity = identity
      if (channel === undefined) return
      if (this.#closing.signal.aborted) {
        void channel.close()
        return
      }
      this.#socket = new SocketCalls(channel, this)
      this.#sockets.add(this.#socket)
      this.#notifyChange(true)
    })
  }

  #notifyChange(isOpen: boolean): void {
    try {
      this.#dialer.onChange?.(isOpen)
    } catch (error) {
      this.#settings.onError(error)
    }
  }

  /**
   * Resolves to undefined where no WebSocket can be opened: a proxy in between may not support them.
   */
  async #dial(): Promise<Channel | undefined> {
    try {
      const url = new URL(this.#url)
      url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
      const info = { method: 'GET', url: this.#url } as const
      const made = await this.#settings.headers(info)
      // A refusal is not handled: HTTP is used instead, and finds out what is wrong.
      const authorization = await this.#settings.auth?.headers({ ...info, server: this.#url })
      return await this.#dialer.dial(url, {
        // Callers that the compiler has not checked may return `Headers`, as fetch accepts them.
        headers: {
          ...(made instanceof Headers ? Object.fromEntries(made) : made),
          ...authorization,
        },
        maxMessageLength: limits.websocketCallLength.default,
        signal: this.#closing.signal,
      })
    } catch {
      return undefined
    }
  }

  async #closeSockets(): Promise<void> {
    this.#isOffered = false
    this.#closing.abort()
    await Promise.all(Array.from(this.#sockets, socket => socket.close()))
  }
}

/**
 * Whether a message is a stateless call that needs nothing but its reply. Long-lived requests, requests
 * for log messages, which cannot be attributed without a progress token, and requests whose results the
 * HTTP channel must see use HTTP.
 */
function fitsWebSocket(
  message: Message | readonly Message[],
): message is RpcRequest & { readonly id: Id } {
  if (isList(message) || message.type !== 'request' || message.id === null) return false
  if (httpOnly.has(message.method)) return false
  const { params } = message
  const meta = ownMember(params, '_meta')
  return (
    isRecord(meta) &&
    meta[metaKeys.protocolVersion] !== undefined &&
    meta[metaKeys.logLevel] === undefined
  )
}

const httpOnly: ReadonlySet<string> = new Set([
  'server/discover',
  'subscriptions/listen',
  'tools/list',
])
