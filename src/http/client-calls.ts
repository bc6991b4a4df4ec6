import { ChannelError } from '../jsonrpc/channel.ts'
import { IdTable } from '../jsonrpc/id-table.ts'
import type { Id, Message, RpcFailure } from '../jsonrpc/message.ts'
import { errorWords } from '../util/error-words.ts'
import { isRecord } from '../util/record.ts'
import { bodyOf, eventsOf, failureIn } from './client-answer.ts'
import { type Answer, isGood, mediaType } from './client-carrier.ts'
import { Exchange, type Recipient } from './client-exchange.ts'
import { carrierFailure, isDenial, isOutage, refusal } from './client-failure.ts'
import type { Line } from './client-line.ts'
import { refreshed } from './client-refresh.ts'
import { Replies } from './client-replies.ts'
import { wireHeader, wireOffer } from './wire-offer.ts'

/** What requests need from their channel. */
export interface CallsHost extends Recipient {
  /** What a message has to wait for so that it does not overtake the one before it. */
  ahead(): Promise<void> | undefined
  /** The server does not know the session any more; the requests of `ids` were refused for it. */
  onGone(ids: readonly Id[]): void
  /** Opens the event stream of the oldest revision, which names where messages go. */
  openPair(): Promise<void>
  /** A request has been answered, or will not be. */
  onMoved(): void
}

/** The requests of one channel: each a POST of its own, whose answer is looked after to its end. */
export class Calls {
  readonly #line: Line
  readonly #host: CallsHost
  readonly #replies: Replies
  /** By the ids of their requests, as long as those are not answered. */
  #exchanges = new IdTable<Exchange>()
  readonly #queue: Exchange[] = []
  #running = 0
  #isOver = false

  constructor(line: Line, host: CallsHost) {
    this.#line = line
    this.#host = host
    this.#replies = new Replies(line, id => void this.#exchanges.delete(id))
  }

  /** Whether a request of the session has been sent to which the server has not begun to answer. */
  get hasUnanswered(): boolean {
    for (const { inSession, isAnswered } of this.#exchanges.values()) {
      if (inSession && !isAnswered) return true
    }
    return false
  }

  /** The request that an id belongs to, while it is not answered. */
  find(id: Id | null): Exchange | undefined {
    return id === null ? undefined : this.#exchanges.get(id)
  }

  /** What came for a request, by whatever way. */
  get replies(): Replies {
    return this.#replies
  }

  /** Sends requests, as soon as there is a place for them. */
  begin(message: Message | readonly Message[], body: string): void {
    this.#add(new Exchange(message, body, this.#host, this.#line.settings.clock))
  }

  /**
   * Nobody waits for a request any more. Leaving the answer of a stateless one is its cancellation. In a
   * session it means nothing, and the server, who has been told, is given the time to end it.
   */
  abandon(id: Id): void {
    const exchange = this.#exchanges.get(id)
    if (exchange === undefined) return
    this.#exchanges.delete(id)
    exchange.waiting.delete(id)
    const queued = this.#queue.indexOf(exchange)
    if (queued !== -1 && exchange.waiting.size === 0) this.#queue.splice(queued, 1)
    if (exchange.isStateless) {
      this.#host.failed(id, new ChannelError('outcome-unknown', `${exchange.what}: given up`))
      exchange.leash.cut()
    } else if (exchange.waiting.size === 0) {
      exchange.leash.cutAfter(this.#line.settings.farewellMs)
    }
  }

  /** Leaves all answers. Nobody is told: whoever waits hears that the channel has ended. */
  end(): void {
    this.#isOver = true
    this.#queue.length = 0
    const all = new Set(this.#exchanges.values())
    this.#exchanges = new IdTable()
    for (const exchange of all) exchange.leash.cut()
  }

  #add(exchange: Exchange): void {
    for (const id of exchange.waiting) this.#exchanges.set(id, exchange)
    if (exchange.isLasting || this.#running < this.#line.settings.maxOpenRequests) {
      void this.#run(exchange)
    } else this.#queue.push(exchange)
  }

  async #run(exchange: Exchange): Promise<void> {
    // What is answered for as long as the client likes would leave others waiting for ever.
    if (!exchange.isLasting) this.#running++
    try {
      const ahead = this.#host.ahead()
      if (ahead !== undefined) await ahead
      await this.#post(exchange)
      if (exchange.mismatch !== undefined) await this.#repeat(exchange, exchange.mismatch)
      if (!exchange.isSettled) throw new ChannelError('framing', 'the answer holds no reply')
    } catch (error) {
      this.#fail(exchange, error)
    }
    exchange.leash.let()
    if (!exchange.isLasting) {
      this.#running--
      const next = this.#queue.shift()
      if (next !== undefined) void this.#run(next)
    }
    this.#host.onMoved()
  }

  #fail(exchange: Exchange, error: unknown): void {
    if (this.#isOver) return
    const { code, message, cause } = carrierFailure(`POST ${this.#line.url.href}`, error)
    const failure = new ChannelError(code, `${exchange.what}: ${message}`, { cause })
    for (const id of exchange.waiting) {
      this.#exchanges.delete(id)
      exchange.recipient.failed(id, failure)
    }
    exchange.waiting.clear()
  }

  async #post(exchange: Exchange): Promise<void> {
    const { message, body, leash } = exchange
    const { session } = this.#line
    if (exchange.isOpening) session.clear()
    exchange.inSession = !exchange.isStateless && session.id !== undefined
    const answer = await this.#line.post(message, body, leash.next())
    if (!isGood(answer)) {
      await this.#refused(exchange, answer)
      return
    }
    exchange.isAnswered = true
    this.#host.onMoved()
    await this.#accepted(exchange, answer)
  }

  async #accepted(exchange: Exchange, answer: Answer): Promise<void> {
    if (this.#line.isPair) {
      // The replies come another way, and find their calls by themselves.
      answer.drop()
      for (const id of exchange.waiting) this.#exchanges.delete(id)
      exchange.waiting.clear()
      return
    }
    const { session, settings } = this.#line
    if (exchange.method === 'server/discover') {
      settings.onOffer?.(answer.header(wireHeader) === wireOffer)
    }
    if (exchange.isOpening && !session.takeId(answer.header('mcp-session-id'))) {
      answer.drop()
      throw new ChannelError('framing', 'the server gives the session an id that cannot be sent')
    }
    const type = mediaType(answer)
    if (type === 'application/json') {
      const body = bodyOf(answer, exchange, this.#line)
      const bytes = body instanceof Promise ? await body : body
      const room = this.#replies.takeBody(exchange, bytes)
      if (room !== undefined) await room
    } else if (type === 'text/event-stream' && answer.status === 200) {
      await this.#takeEvents(exchange, answer)
    } else {
      answer.drop()
      const with_ = type === '' ? 'nothing' : type
      const what = `answered ${answer.status} with ${with_} instead of JSON or an event stream`
      throw new ChannelError('framing', what)
    }
  }

  async #takeEvents(exchange: Exchange, answer: Answer): Promise<void> {
    const end = await eventsOf(answer, exchange, this.#line, this.#replies)
    if (exchange.isSettled || end.type === 'over') return
    const what = 'the answer broke off before the reply came; it may have been carried out'
    if (end.type === 'lost') throw new ChannelError('outcome-unknown', what, { cause: end.cause })
    const { answer: refused } = end
    refused.drop()
    if (refused.status === 404 && exchange.inSession) this.#host.onGone([])
    const { cause } = refusal('asking for the rest', refused)
    throw new ChannelError('outcome-unknown', what, { cause })
  }

  async #refused(exchange: Exchange, answer: Answer): Promise<void> {
    const { status } = answer
    const { method, waiting } = exchange
    const found = await failureIn(answer, exchange, this.#line)
    const words = found?.error.message
    const what = `POST ${this.#line.url.href}`
    if (isDenial(status)) throw refusal(what, answer, words)
    if (status === 404 && exchange.inSession) {
      const ids = [...waiting]
      for (const id of ids) this.#exchanges.delete(id)
      waiting.clear()
      this.#host.onGone(ids)
      return
    }
    const isOwn = found !== undefined && found.id !== null && waiting.has(found.id)
    // Whoever has looked at no message only says that nothing is there: the address is what is wrong.
    const isElsewhere = status === 404 && !isOwn && !isOfProtocol(found)
    const reply = isElsewhere ? undefined : found
    if (exchange.isOpening && mayBePair.has(status) && !this.#line.isPair) {
      if (!isOwn && !isOfProtocol(found)) {
        await this.#byPair(exchange, reply ?? refusal(what, answer, words))
        return
      }
    }
    // A probe must not take for an answer what only says that there is none now.
    if (isOutage(status) && (!isOwn || method === 'server/discover')) {
      throw refusal(what, answer, words)
    }
    if (reply !== undefined) await this.#replies.take(exchange, reply)
    else if (method === 'server/discover') {
      const { message, cause } = refusal(what, answer, words)
      throw new ChannelError('framing', message, { cause })
    } else throw refusal(what, answer, words)
  }

  /** What refused `initialize` may be a server of the oldest revision. If not, the refusal stands. */
  async #byPair(exchange: Exchange, refused: RpcFailure | ChannelError): Promise<void> {
    try {
      await this.#host.openPair()
    } catch (error) {
      if (!(refused instanceof Error)) {
        await this.#replies.take(exchange, refused)
        return
      }
      const why = errorWords(error)
      const { code, message, cause } = refused
      throw new ChannelError(code, `${message}; nor is it a server of events: ${why}`, { cause })
    }
    await this.#post(exchange)
  }

  /** The headers did not agree with the arguments: what is known of the tool may be out of date. */
  async #repeat(exchange: Exchange, mismatch: RpcFailure): Promise<void> {
    exchange.isRepeated = true
    const { clock, acceptMs } = this.#line.settings
    const list = (message: Message, body: string, recipient: Recipient) => {
      const asking = new Exchange(message, body, recipient, clock)
      for (const id of asking.waiting) this.#exchanges.set(id, asking)
      asking.leash.cutAfter(acceptMs)
      // Not behind others: the call that waits for it holds a place of its own.
      void this.#run(asking)
    }
    const isBetter = await refreshed(exchange, this.#line, list)
    exchange.mismatch = undefined
    if (isBetter && exchange.waiting.size > 0) await this.#post(exchange)
    else await this.#replies.take(exchange, mismatch)
  }
}

/** The statuses by which a server of the oldest revision may refuse a POST where it serves events. */
const mayBePair: ReadonlySet<number> = new Set([400, 404, 405])

/** Whether an error is one of those that only stateless servers, or those that choose, give. */
function isOfProtocol(failure: RpcFailure | undefined): boolean {
  if (failure === undefined) return false
  const { code, data } = failure.error
  return (code <= -32020 && code >= -32022) || (isRecord(data) && Array.isArray(data.supported))
}
