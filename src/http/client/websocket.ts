import { type Channel, ChannelError, type Sink } from '../../jsonrpc/channel.ts'
import { type Id, isList, type Message, type RpcRequest } from '../../jsonrpc/message.ts'
import { metaKeys } from '../../mcp/meta.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'
import type { Traffic } from '../../util/traffic.ts'
import { httpChannel } from './channel.ts'
import {
  type HttpClientOptions,
  type HttpHeaders,
  type HttpSettings,
  httpSettings,
} from './options.ts'
import { SocketCalls, type SocketHost } from './websocket-calls.ts'

/** Opens WebSockets, which this folder knows nothing of. */
export interface WebSocketDialling {
  /** Opens one. Its `send` throws a ChannelError `'too-large'` for what is longer than `longest`. */
  dial(url: URL, options: WebSocketDial): Promise<Channel>
  /** Told whenever calls begin to go over a WebSocket, and whenever they go over HTTP again. */
  onChange?(isOpen: boolean): void
  /** Counts what passes over HTTP; whoever dials counts the rest. */
  readonly traffic?: Traffic
}

/** How one is opened. */
export interface WebSocketDial {
  readonly headers: HttpHeaders
  /** The longest message that is sent on it. */
  readonly longest: number
  readonly signal: AbortSignal
}

/**
 * A channel over HTTP, with a WebSocket beside it where the server says that it takes one: then calls
 * that speak for themselves go over that, many of them in one write, and cost a fraction of a request
 * each. All that needs a stream of its own goes over HTTP as ever, and so does everything while there is
 * no WebSocket: one that is refused or lost is tried again later, and nothing but the calls that were on
 * it is any worse for it. To whoever uses the channel each request seems to be one over HTTP.
 */
export function httpWithWebSocket(
  url: URL,
  options: HttpClientOptions,
  dialling: WebSocketDialling,
): Channel {
  const onOffer = (isOffered: boolean): void => beside.onOffer(isOffered)
  const http = httpChannel(url, options, { onOffer, traffic: dialling.traffic })
  const beside: Beside = new Beside(url, http, httpSettings(options), dialling)
  return beside
}

class Beside implements Channel, SocketHost {
  readonly #url: URL
  readonly #http: Channel
  readonly #settings: HttpSettings
  readonly #dialling: WebSocketDialling
  readonly #giveUp = new AbortController()
  /** All that are open; only one of them gets calls. */
  readonly #sockets = new Set<SocketCalls>()
  #socket: SocketCalls | undefined
  #sink: Sink | undefined
  #isOffered = false
  /** Whether it has turned out to be no place for calls such as these. */
  #isUnfit = false
  #isOpening = false
  /** Attempts in a row that came to nothing. */
  #failures = 0
  #nextAt = Number.NEGATIVE_INFINITY

  constructor(url: URL, http: Channel, settings: HttpSettings, dialling: WebSocketDialling) {
    this.#url = url
    this.#http = http
    this.#settings = settings
    this.#dialling = dialling
  }

  open(sink: Sink): void {
    this.#sink = sink
    this.#http.open({
      receive: (arrival, envelope) => sink.receive(arrival, envelope),
      failed: (id, error) => sink.failed?.(id, error),
      closed: cause => {
        void this.#leave()
        sink.closed(cause)
      },
    })
  }

  send(message: Message | readonly Message[]): void | Promise<void> {
    const socket = this.#socket
    if (socket === undefined) {
      if (this.#isOffered && isCall(message)) this.#try()
    } else if (socket.size < limits.websocketCalls.default && isCall(message)) {
      try {
        return socket.send(message, message.id)
      } catch {
        // Too long for it, or it has just ended: nothing has left, and there is another way.
      }
    }
    return this.#http.send(message)
  }

  abandon(id: Id): void {
    for (const socket of this.#sockets) if (socket.abandon(id)) return
    this.#http.abandon?.(id)
  }

  async close(): Promise<void> {
    await Promise.all([this.#leave(), this.#http.close()])
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** What the server has said last of WebSockets. */
  onOffer(isOffered: boolean): void {
    this.#isOffered = isOffered && !this.#isUnfit
    if (this.#isOffered) this.#try()
  }

  receive: SocketHost['receive'] = (arrival, envelope) => this.#sink?.receive(arrival, envelope)

  failed(id: Id, error: ChannelError): void {
    this.#sink?.failed?.(id, error)
  }

  onRetired(socket: SocketCalls): void {
    if (socket !== this.#socket) return
    this.#socket = undefined
    this.#tell(false)
  }

  onEnded(socket: SocketCalls, cause: Error | undefined): void {
    this.#sockets.delete(socket)
    this.onRetired(socket)
    // One that has worked is missed at once; another may be one that never will.
    if (socket.isProven) {
      this.#failures = 0
      this.#nextAt = Number.NEGATIVE_INFINITY
    }
    // What one call has done to all the others, the next would do again.
    if (cause instanceof ChannelError && cause.code === 'too-large') {
      this.#isUnfit = true
      this.#isOffered = false
    }
  }

  report(what: string): void {
    const words = `${this.#url.href} sends what cannot be used: ${what}`
    this.#settings.onError(new ChannelError('framing', words))
  }

  /** Opens a WebSocket, unless there is one or it is too early to try again. */
  #try(): void {
    if (this.#socket !== undefined || this.#isOpening || this.#giveUp.signal.aborted) return
    const now = this.#settings.clock.now()
    if (now < this.#nextAt) return
    this.#nextAt = now + limits.websocketRetryMs.default * 2 ** Math.min(this.#failures++, 6)
    this.#isOpening = true
    void this.#dial().then(channel => {
      this.#isOpening = false
      if (channel === undefined) return
      if (this.#giveUp.signal.aborted) {
        void channel.close()
        return
      }
      this.#socket = new SocketCalls(channel, this)
      this.#sockets.add(this.#socket)
      this.#tell(true)
    })
  }

  #tell(isOpen: boolean): void {
    try {
      this.#dialling.onChange?.(isOpen)
    } catch (error) {
      this.#settings.onError(error)
    }
  }

  /** Undefined where it cannot be had: a proxy in between need not know what a WebSocket is. */
  async #dial(): Promise<Channel | undefined> {
    try {
      const url = new URL(this.#url)
      url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
      const made = await this.#settings.headers({ method: 'GET', url: this.#url })
      return await this.#dialling.dial(url, {
        // Callers the compiler never saw give a Headers, as fetch would take it.
        headers: made instanceof Headers ? Object.fromEntries(made) : made,
        longest: limits.websocketCallLength.default,
        signal: this.#giveUp.signal,
      })
    } catch {
      return undefined
    }
  }

  async #leave(): Promise<void> {
    this.#isOffered = false
    this.#giveUp.abort()
    await Promise.all(Array.from(this.#sockets, socket => socket.close()))
  }
}

/**
 * Whether a message is a call of a stateless revision that needs nothing but its reply. What goes on for
 * long, what is asked to tell of itself on the way without a token of the caller's, and what the side of
 * HTTP has to learn from, stays there.
 */
function isCall(
  message: Message | readonly Message[],
): message is RpcRequest & { readonly id: Id } {
  if (isList(message) || message.type !== 'request' || message.id === null) return false
  if (ofHttp.has(message.method)) return false
  const { params } = message
  const meta = isRecord(params) ? params._meta : undefined
  return (
    isRecord(meta) &&
    meta[metaKeys.protocolVersion] !== undefined &&
    meta[metaKeys.logLevel] === undefined
  )
}

const ofHttp: ReadonlySet<string> = new Set([
  'server/discover',
  'subscriptions/listen',
  'tools/list',
])
