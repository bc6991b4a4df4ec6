import { type Channel, ChannelError, type Sink } from '../../jsonrpc/channel.ts'
import { encodeForSend } from '../../jsonrpc/codec/encode.ts'
import { type Decoded, type Id, isList, type Message } from '../../jsonrpc/message.ts'
import { addressText } from '../../util/text/address-text.ts'
import type { IncomingEvent } from '../../wire/sse.ts'
import { HttpCalls } from './calls.ts'
import { CancelScope } from './cancel-scope.ts'
import { HttpEndpoint } from './endpoint.ts'
import { statusError } from './errors.ts'
import { follow } from './event-stream.ts'
import { openHttpSse } from './http-sse.ts'
import { type HttpClientOptions, type HttpSettings, httpSettings } from './options.ts'
import { hasRequest } from './post.ts'
import { isSuccess } from './transport/http-client.ts'

export type { HttpClientOptions }

/**
 * Makes a channel to a server over HTTP, in either era; the messages themselves decide which one.
 *
 * Nothing is sent before the first message. Each message is a POST of its own, whose response holds the
 * reply. In a session the channel also keeps a stream open for messages that belong to no request,
 * resumes streams that break off, and ends the session when it is closed. One request may fail while
 * others go on; the channel itself closes, with a cause, when its session is lost. Throws a TypeError
 * for a URL that is not HTTP or contains a password, which belongs in a header.
 *
 * With `inner.onWebSocketOffer`, each `server/discover` asks whether the server accepts WebSockets too,
 * and the callback gets the answer before the reply is delivered.
 */
export function httpChannel(
  url: URL,
  options: HttpClientOptions = {},
  inner: Pick<HttpSettings, 'onWebSocketOffer' | 'traffic'> = {},
): Channel {
  if (!/^https?:$/.test(url.protocol)) throw new TypeError(`${addressText(url)} is not an HTTP URL`)
  if (url.username !== '' || url.password !== '') {
    throw new TypeError(`a password belongs in a header, not in the URL of ${url.host}`)
  }
  return new HttpChannel(new HttpEndpoint(url, { ...httpSettings(options), ...inner }))
}

class HttpChannel implements Channel {
  readonly #endpoint: HttpEndpoint
  readonly #calls: HttpCalls
  /** The stream for messages that belong to no request; with HTTP+SSE, for all messages. */
  readonly #stream: CancelScope
  /** Notifications and replies that have been sent and not yet accepted. */
  readonly #oneWay = new Map<Promise<void>, CancelScope>()
  #sink: Sink | undefined
  /** What messages after `notifications/initialized` wait for. */
  #barrier: Promise<void> | undefined
  /** Why the session has ended on the server; undefined while it is open. */
  #lost: ChannelError | undefined
  #isClosed = false
  #hasNotifiedClosed = false
  #closing: Promise<void> | undefined

  constructor(endpoint: HttpEndpoint) {
    this.#endpoint = endpoint
    this.#stream = new CancelScope(endpoint.settings.clock)
    this.#calls = new HttpCalls(endpoint, {
      receive: (arrival, envelope) => this.#sink?.receive(arrival, envelope),
      failed: (id, error) => this.#sink?.failed?.(id, error),
      barrier: () => this.#barrier,
      onSessionLost: ids => this.#onSessionLost(ids),
      openHttpSse: () => this.#openHttpSse(),
      onSettled: () => this.#onSettled(),
    })
  }

  open(sink: Sink): void {
    if (this.#sink !== undefined) throw new Error('the channel is already open')
    this.#sink = sink
    const { authorization } = this.#endpoint
    if (authorization !== undefined) authorization.onSuspended = is => sink.suspended?.(is)
  }

  send(message: Message | readonly Message[]): void {
    if (this.#isClosed || this.#lost !== undefined) {
      throw new ChannelError('closed', 'sending: the channel is closed')
    }
    if (isList(message) && message.length === 0) {
      throw new TypeError('a batch needs at least one message')
    }
    const body = encodeForSend(message)
    if (hasRequest(message)) this.#calls.begin(message, body)
    else this.#sendOneWay(message, body)
  }

  abandon(id: Id): void {
    this.#calls.abandon(id)
  }

  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Sends a notification or a reply, which gets no reply itself. */
  #sendOneWay(message: Message | readonly Message[], body: string): void {
    const scope = new CancelScope(this.#endpoint.settings.clock)
    const sent = this.#post(message, body, scope)
    this.#oneWay.set(sent, scope)
    if (isInitialized(message)) this.#barrier = sent
    void sent.then(() => {
      this.#oneWay.delete(sent)
      if (this.#barrier === sent) this.#barrier = undefined
    })
  }

  /** Posts a message. Never rejects, because the sender does not wait for it. */
  async #post(
    message: Message | readonly Message[],
    body: string,
    scope: CancelScope,
  ): Promise<void> {
    const { settings, url, session } = this.#endpoint
    const what = `POST ${addressText(url)} (${nameOf(message)})`
    try {
      if (this.#barrier !== undefined) await this.#barrier
      const inSession = session.id !== undefined
      const response = await this.#endpoint.post(
        message,
        body,
        scope.next(),
        settings.acceptTimeoutMs,
      )
      response.discard()
      if (response.status === 404 && inSession) this.#onSessionLost([])
      else if (!isSuccess(response)) throw statusError(what, response)
      else if (isInitialized(message)) void this.#listen()
    } catch (error) {
      if (!this.#isClosed) settings.onError(error)
    }
  }

  /** Keeps a stream open for messages that belong to no request, if the server has one. */
  async #listen(): Promise<void> {
    if (this.#isClosed || this.#endpoint.isHttpSse) return
    const { settings, url, session } = this.#endpoint
    const scope = this.#stream
    const what = `GET ${addressText(url)}`
    try {
      const end = await follow(
        {
          scope,
          resumes: 'always',
          open: lastEventId => this.#endpoint.get(lastEventId, scope.next()),
          event: event => this.#onEvent(event),
          isComplete: () => this.#isClosed,
          // Requests in flight have responses of their own and do not depend on this stream.
          persists: () => this.#calls.size > 0,
        },
        settings,
      )
      if (end.type === 'refused') {
        const { response } = end
        response.discard()
        if (response.status === 404 && session.id !== undefined) this.#onSessionLost([])
        else if (response.status !== 405) settings.onError(statusError(what, response))
      } else if (end.type === 'lost') {
        const { cause } = end
        const words = `${what}: the event stream broke off and could not be reopened`
        const lost = new ChannelError('closed', words, { cause })
        // A server that always ends the stream, or never opened it, does not support it.
        if (end.wasOpen && cause !== undefined) this.#lose(lost)
        else settings.onError(lost)
      }
    } catch (error) {
      if (!this.#isClosed) this.#lose(toError(error))
    }
  }

  #onEvent(event: IncomingEvent): void | Promise<void> {
    const arrival = this.#calls.replies.read(event)
    if (arrival === undefined) return undefined
    if (arrival.type === 'invalid' && arrival.reply !== true) {
      const what = `${addressText(this.#endpoint.url)} sent an invalid message: ${arrival.detail}`
      this.#endpoint.settings.onError(new ChannelError('framing', what))
      return undefined
    }
    return this.#deliver(arrival)
  }

  #deliver(arrival: Decoded): void | Promise<void> {
    const isReply = arrival.type === 'result' || arrival.type === 'error'
    const exchange = isReply ? this.#calls.find(arrival.id) : undefined
    if (exchange === undefined) return this.#sink?.receive(arrival, {})
    return this.#calls.replies.take(exchange, arrival)
  }

  async #openHttpSse(): Promise<void> {
    const messagesUrl = await openHttpSse(this.#endpoint, {
      scope: this.#stream,
      event: event => this.#onEvent(event),
      onEnded: cause => {
        const what = `GET ${addressText(this.#endpoint.url)}: the event stream ended`
        this.#lose(new ChannelError('closed', what, { cause }))
      },
    })
    this.#endpoint.moveTo(messagesUrl)
  }

  /**
   * Handles a session that has ended on the server. Requests whose responses are still open,
   * on a server that is shutting down for example, run to their end; then the channel closes.
   */
  #onSessionLost(ids: readonly Id[]): void {
    if (this.#isClosed) return
    const isFirst = this.#lost === undefined
    const words = `${addressText(this.#endpoint.url)}: the session has ended`
    const lost = this.#lost ?? new ChannelError('closed', words)
    this.#lost = lost
    for (const id of ids) this.#sink?.failed?.(id, lost)
    if (isFirst && this.#calls.size > 0) {
      this.#stream.cancel()
      this.#sink?.retired?.(lost)
    }
    this.#onSettled()
  }

  #onSettled(): void {
    if (this.#lost !== undefined && this.#calls.size === 0) this.#lose(this.#lost)
  }

  /** Closes the channel without ending the session, because the server is not reachable. */
  #lose(cause: Error): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cancelAll()
    this.#notifyClosed(cause)
  }

  async #end(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const deadline = new CancelScope(this.#endpoint.settings.clock)
    deadline.cancelAfter(this.#endpoint.settings.closeTimeoutMs)
    const expired = new Promise<void>(resolve => deadline.onCancel(resolve))
    await Promise.race([expired, Promise.all(this.#oneWay.keys())])
    this.#cancelAll()
    if (this.#lost === undefined) await Promise.race([expired, this.#endSession(deadline)])
    deadline.cancel()
    this.#notifyClosed()
  }

  async #endSession(deadline: CancelScope): Promise<void> {
    if (this.#endpoint.session.id === undefined || this.#endpoint.isHttpSse) return
    try {
      const response = await this.#endpoint.delete(deadline.next())
      response.discard()
    } catch {
      // Best effort: a server that does not get the DELETE ends the session after its timeout.
    }
  }

  #cancelAll(): void {
    this.#stream.cancel()
    this.#calls.end()
    for (const scope of this.#oneWay.values()) scope.cancel()
  }

  #notifyClosed(cause?: Error): void {
    if (this.#hasNotifiedClosed) return
    this.#hasNotifiedClosed = true
    this.#endpoint.close()
    this.#sink?.closed(cause)
  }
}

function isInitialized(message: Message | readonly Message[]): boolean {
  return 'method' in message && message.method === 'notifications/initialized'
}

function nameOf(message: Message | readonly Message[]): string {
  if (isList(message)) return 'a batch'
  return 'method' in message ? message.method : 'a reply'
}

function toError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause))
}
