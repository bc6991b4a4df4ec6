import { type Channel, ChannelError, type Sink } from '../../jsonrpc/channel.ts'
import { textOf } from '../../jsonrpc/codec/text.ts'
import { type Decoded, type Id, isList, type Message } from '../../jsonrpc/message.ts'
import type { Timer } from '../../util/time/clock.ts'
import type { IncomingEvent } from '../../wire/sse.ts'
import { Calls } from './calls.ts'
import { Leash } from './cancel-scope.ts'
import { Line } from './endpoint.ts'
import { refusal } from './errors.ts'
import { follow } from './event-stream.ts'
import { openPair } from './http-sse.ts'
import { type HttpClientOptions, type HttpSettings, httpSettings } from './options.ts'
import { wantsAnswer } from './post.ts'
import { isGood } from './transport/http-client.ts'

export type { HttpClientOptions }

/**
 * A channel to a server over HTTP, in either era: which one is told from the messages themselves.
 *
 * Nothing is sent before the first message. Each message is a POST of its own, whose answer holds the
 * reply. In a session a stream for what the server says unasked is kept open besides, streams that
 * break off are picked up again, and closing ends the session. One request may fail while the others go
 * on; the channel itself ends, with a cause, when its session is gone. Throws a TypeError for an address
 * that is not one of HTTP, or holds a password, which belongs into a header.
 *
 * With `inner.onOffer`, each `server/discover` asks whether the server takes WebSockets too, and
 * the answer is told before the reply.
 */
export function httpChannel(
  url: URL,
  options: HttpClientOptions = {},
  inner: Pick<HttpSettings, 'onOffer' | 'traffic'> = {},
): Channel {
  if (!/^https?:$/.test(url.protocol)) throw new TypeError(`${url.href} is no address of HTTP`)
  if (url.username !== '' || url.password !== '') {
    throw new TypeError(`a password belongs into a header, not into the address of ${url.host}`)
  }
  return new HttpChannel(new Line(url, { ...httpSettings(options), ...inner }))
}

class HttpChannel implements Channel {
  readonly #line: Line
  readonly #calls: Calls
  /** The stream for what the server says unasked; or, in the oldest revision, for everything. */
  readonly #stream: Leash
  /** What has been sent and wants no answer, until it has been accepted. */
  readonly #telling = new Map<Promise<void>, Leash>()
  #sink: Sink | undefined
  /** What the messages after `notifications/initialized` wait for. */
  #ahead: Promise<void> | undefined
  /** Requests that were refused because their session is gone. */
  #returned: Id[] | undefined
  /** How long they wait for others that will be. */
  #patience: Timer | undefined
  #isClosed = false
  #isTold = false
  #closing: Promise<void> | undefined

  constructor(line: Line) {
    this.#line = line
    this.#stream = new Leash(line.settings.clock)
    this.#calls = new Calls(line, {
      receive: (arrival, envelope) => this.#sink?.receive(arrival, envelope),
      failed: (id, error) => this.#sink?.failed?.(id, error),
      ahead: () => this.#ahead,
      onGone: ids => this.#onGone(ids),
      openPair: () => this.#openPair(),
      onMoved: () => this.#onMoved(),
    })
  }

  open(sink: Sink): void {
    if (this.#sink !== undefined) throw new Error('the channel is open already')
    this.#sink = sink
  }

  send(message: Message | readonly Message[]): void {
    if (this.#isClosed || this.#returned !== undefined) {
      throw new ChannelError('closed', 'sending: the channel is closed')
    }
    if (isList(message) && message.length === 0) {
      throw new TypeError('a batch needs at least one message')
    }
    const body = textOf(message)
    if (wantsAnswer(message)) this.#calls.begin(message, body)
    else this.#tell(message, body)
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

  /** Sends what gets no answer. */
  #tell(message: Message | readonly Message[], body: string): void {
    const leash = new Leash(this.#line.settings.clock)
    const told = this.#post(message, body, leash)
    this.#telling.set(told, leash)
    if (isInitialized(message)) this.#ahead = told
    void told.then(() => {
      this.#telling.delete(told)
      if (this.#ahead === told) this.#ahead = undefined
    })
  }

  /** Never rejects: whoever sent it waits for nothing. */
  async #post(message: Message | readonly Message[], body: string, leash: Leash): Promise<void> {
    const { settings, url, session } = this.#line
    const what = `POST ${url.href} (${nameOf(message)})`
    try {
      if (this.#ahead !== undefined) await this.#ahead
      const inSession = session.id !== undefined
      const answer = await this.#line.post(message, body, leash.next(), settings.acceptMs)
      answer.drop()
      if (answer.status === 404 && inSession) this.#onGone([])
      else if (!isGood(answer)) throw refusal(what, answer)
      else if (isInitialized(message)) void this.#listen()
    } catch (error) {
      if (!this.#isClosed) settings.onError(error)
    }
  }

  /** Keeps a stream open for what the server says unasked, if it has one. */
  async #listen(): Promise<void> {
    if (this.#isClosed || this.#line.isPair) return
    const { settings, url, session } = this.#line
    const leash = this.#stream
    const what = `GET ${url.href}`
    try {
      const end = await follow(
        {
          leash,
          resumes: 'always',
          open: lastEventId => this.#line.get(lastEventId, leash.next()),
          event: event => this.#onEvent(event),
          isOver: () => this.#isClosed,
        },
        settings,
      )
      if (end.type === 'refused') {
        const { answer } = end
        answer.drop()
        if (answer.status === 404 && session.id !== undefined) this.#onGone([])
        else if (answer.status !== 405) settings.onError(refusal(what, answer))
      } else if (end.type === 'lost') {
        const { cause } = end
        const words = `${what}: the event stream broke off and could not be opened again`
        const lost = new ChannelError('closed', words, { cause })
        // One that the server always ends, or never opened, is one it does not have.
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
      const what = `${this.#line.url.href} sends what is no message: ${arrival.detail}`
      this.#line.settings.onError(new ChannelError('framing', what))
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

  async #openPair(): Promise<void> {
    const endpoint = await openPair(this.#line, {
      leash: this.#stream,
      event: event => this.#onEvent(event),
      onEnded: cause => {
        const what = `GET ${this.#line.url.href}: the event stream ended`
        this.#lose(new ChannelError('closed', what, { cause }))
      },
    })
    this.#line.moveTo(endpoint)
  }

  /**
   * The server does not know the session any more. Others may be about to hear the same, and would
   * otherwise never know that nothing came of their requests.
   */
  #onGone(ids: readonly Id[]): void {
    if (this.#isClosed) return
    if (this.#returned === undefined) {
      this.#returned = []
      const { clock, farewellMs } = this.#line.settings
      this.#patience = clock.start(() => this.#loseSession(), farewellMs)
    }
    this.#returned.push(...ids)
    this.#onMoved()
  }

  #onMoved(): void {
    if (this.#returned !== undefined && !this.#calls.hasUnanswered) this.#loseSession()
  }

  #loseSession(): void {
    if (this.#isClosed) return
    const gone = new ChannelError('closed', `${this.#line.url.href}: the session has ended`)
    for (const id of this.#returned ?? []) this.#sink?.failed?.(id, gone)
    this.#lose(gone)
  }

  /** Ends without a farewell: there is nobody left to hear it. */
  #lose(cause: Error): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cut()
    this.#tellClosed(cause)
  }

  async #end(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const farewell = new Leash(this.#line.settings.clock)
    farewell.cutAfter(this.#line.settings.farewellMs)
    const over = new Promise<void>(resolve => farewell.onCut(resolve))
    await Promise.race([over, Promise.all(this.#telling.keys())])
    this.#cut()
    if (this.#returned === undefined) await Promise.race([over, this.#endSession(farewell)])
    farewell.cut()
    this.#tellClosed()
  }

  async #endSession(farewell: Leash): Promise<void> {
    if (this.#line.session.id === undefined || this.#line.isPair) return
    try {
      const answer = await this.#line.delete(farewell.next())
      answer.drop()
    } catch {
      // A courtesy: a server that does not hear it ends the session by itself.
    }
  }

  #cut(): void {
    if (this.#patience !== undefined) this.#line.settings.clock.stop(this.#patience)
    this.#stream.cut()
    this.#calls.end()
    for (const leash of this.#telling.values()) leash.cut()
  }

  #tellClosed(cause?: Error): void {
    if (this.#isTold) return
    this.#isTold = true
    this.#line.close()
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
