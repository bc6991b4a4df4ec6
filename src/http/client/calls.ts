import { ChannelError } from '../../jsonrpc/channel.ts'
import type { Id, Message, RpcFailure } from '../../jsonrpc/message.ts'
import { IdTable } from '../../jsonrpc/peer/id-table.ts'
import { errorWords } from '../../util/error-words.ts'
import { isRecord } from '../../util/record.ts'
import { wireHeader, wireOffer } from '../wire-offer.ts'
import type { Line } from './endpoint.ts'
import { carrierFailure, isDenial, isOutage, refusal } from './errors.ts'
import { refreshed } from './param-header-refresh.ts'
import { Posting, type Recipient } from './post.ts'
import { Replies } from './replies.ts'
import { bodyOf, eventsOf, failureIn } from './response.ts'
import { type Answer, isGood, mediaType } from './transport/http-client.ts'

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
  #postings = new IdTable<Posting>()
  readonly #queue: Posting[] = []
  #running = 0
  #isOver = false

  constructor(line: Line, host: CallsHost) {
    this.#line = line
    this.#host = host
    this.#replies = new Replies(line, id => void this.#postings.delete(id))
  }

  /** Whether a request of the session has been sent to which the server has not begun to answer. */
  get hasUnanswered(): boolean {
    for (const { inSession, isAnswered } of this.#postings.values()) {
      if (inSession && !isAnswered) return true
    }
    return false
  }

  /** The request that an id belongs to, while it is not answered. */
  find(id: Id | null): Posting | undefined {
    return id === null ? undefined : this.#postings.get(id)
  }

  /** What came for a request, by whatever way. */
  get replies(): Replies {
    return this.#replies
  }

  /** Sends requests, as soon as there is a place for them. */
  begin(message: Message | readonly Message[], body: string): void {
    this.#add(new Posting(message, body, this.#host, this.#line.settings.clock))
  }

  /**
   * Nobody waits for a request any more. Leaving the answer of a stateless one is its cancellation. In a
   * session it means nothing, and the server, who has been told, is given the time to end it.
   */
  abandon(id: Id): void {
    const posting = this.#postings.get(id)
    if (posting === undefined) return
    this.#postings.delete(id)
    posting.waiting.delete(id)
    const queued = this.#queue.indexOf(posting)
    if (queued !== -1 && posting.waiting.size === 0) this.#queue.splice(queued, 1)
    if (posting.isStateless) {
      this.#host.failed(id, new ChannelError('outcome-unknown', `${posting.what}: given up`))
      posting.leash.cut()
    } else if (posting.waiting.size === 0) {
      posting.leash.cutAfter(this.#line.settings.farewellMs)
    }
  }

  /** Leaves all answers. Nobody is told: whoever waits hears that the channel has ended. */
  end(): void {
    this.#isOver = true
    this.#queue.length = 0
    const all = new Set(this.#postings.values())
    this.#postings = new IdTable()
    for (const posting of all) posting.leash.cut()
  }

  #add(posting: Posting): void {
    for (const id of posting.waiting) this.#postings.set(id, posting)
    if (posting.isLasting || this.#running < this.#line.settings.maxOpenRequests) {
      void this.#run(posting)
    } else this.#queue.push(posting)
  }

  async #run(posting: Posting): Promise<void> {
    // What is answered for as long as the client likes would leave others waiting for ever.
    if (!posting.isLasting) this.#running++
    try {
      const ahead = this.#host.ahead()
      if (ahead !== undefined) await ahead
      await this.#post(posting)
      if (posting.mismatch !== undefined) await this.#repeat(posting, posting.mismatch)
      if (!posting.isSettled) throw new ChannelError('framing', 'the answer holds no reply')
    } catch (error) {
      this.#fail(posting, error)
    }
    posting.leash.let()
    if (!posting.isLasting) {
      this.#running--
      const next = this.#queue.shift()
      if (next !== undefined) void this.#run(next)
    }
    this.#host.onMoved()
  }

  #fail(posting: Posting, error: unknown): void {
    if (this.#isOver) return
    const { code, message, cause } = carrierFailure(`POST ${this.#line.url.href}`, error)
    const failure = new ChannelError(code, `${posting.what}: ${message}`, { cause })
    for (const id of posting.waiting) {
      this.#postings.delete(id)
      posting.recipient.failed(id, failure)
    }
    posting.waiting.clear()
  }

  async #post(posting: Posting): Promise<void> {
    const { message, body, leash } = posting
    const { session } = this.#line
    if (posting.isOpening) session.clear()
    posting.inSession = !posting.isStateless && session.id !== undefined
    const answer = await this.#line.post(message, body, leash.next())
    if (!isGood(answer)) {
      await this.#refused(posting, answer)
      return
    }
    posting.isAnswered = true
    this.#host.onMoved()
    await this.#accepted(posting, answer)
  }

  async #accepted(posting: Posting, answer: Answer): Promise<void> {
    if (this.#line.isPair) {
      // The replies come another way, and find their calls by themselves.
      answer.drop()
      for (const id of posting.waiting) this.#postings.delete(id)
      posting.waiting.clear()
      return
    }
    const { session, settings } = this.#line
    if (posting.method === 'server/discover') {
      settings.onOffer?.(answer.header(wireHeader) === wireOffer)
    }
    if (posting.isOpening && !session.takeId(answer.header('mcp-session-id'))) {
      answer.drop()
      throw new ChannelError('framing', 'the server gives the session an id that cannot be sent')
    }
    const type = mediaType(answer)
    if (type === 'application/json') {
      const body = bodyOf(answer, posting, this.#line)
      const bytes = body instanceof Promise ? await body : body
      const room = this.#replies.takeBody(posting, bytes)
      if (room !== undefined) await room
    } else if (type === 'text/event-stream' && answer.status === 200) {
      await this.#takeEvents(posting, answer)
    } else {
      answer.drop()
      const with_ = type === '' ? 'nothing' : type
      const what = `answered ${answer.status} with ${with_} instead of JSON or an event stream`
      throw new ChannelError('framing', what)
    }
  }

  async #takeEvents(posting: Posting, answer: Answer): Promise<void> {
    const end = await eventsOf(answer, posting, this.#line, this.#replies)
    if (posting.isSettled || end.type === 'over') return
    const what = 'the answer broke off before the reply came; it may have been carried out'
    if (end.type === 'lost') throw new ChannelError('outcome-unknown', what, { cause: end.cause })
    const { answer: refused } = end
    refused.drop()
    if (refused.status === 404 && posting.inSession) this.#host.onGone([])
    const { cause } = refusal('asking for the rest', refused)
    throw new ChannelError('outcome-unknown', what, { cause })
  }

  async #refused(posting: Posting, answer: Answer): Promise<void> {
    const { status } = answer
    const { method, waiting } = posting
    const found = await failureIn(answer, posting, this.#line)
    const words = found?.error.message
    const what = `POST ${this.#line.url.href}`
    if (isDenial(status)) throw refusal(what, answer, words)
    if (status === 404 && posting.inSession) {
      const ids = [...waiting]
      for (const id of ids) this.#postings.delete(id)
      waiting.clear()
      this.#host.onGone(ids)
      return
    }
    const isOwn = found !== undefined && found.id !== null && waiting.has(found.id)
    // Whoever has looked at no message only says that nothing is there: the address is what is wrong.
    const isElsewhere = status === 404 && !isOwn && !isOfProtocol(found)
    const reply = isElsewhere ? undefined : found
    if (posting.isOpening && mayBePair.has(status) && !this.#line.isPair) {
      if (!isOwn && !isOfProtocol(found)) {
        await this.#byPair(posting, reply ?? refusal(what, answer, words))
        return
      }
    }
    // A probe must not take for an answer what only says that there is none now.
    if (isOutage(status) && (!isOwn || method === 'server/discover')) {
      throw refusal(what, answer, words)
    }
    if (reply !== undefined) await this.#replies.take(posting, reply)
    else if (method === 'server/discover') {
      const { message, cause } = refusal(what, answer, words)
      throw new ChannelError('framing', message, { cause })
    } else throw refusal(what, answer, words)
  }

  /** What refused `initialize` may be a server of the oldest revision. If not, the refusal stands. */
  async #byPair(posting: Posting, refused: RpcFailure | ChannelError): Promise<void> {
    try {
      await this.#host.openPair()
    } catch (error) {
      if (!(refused instanceof Error)) {
        await this.#replies.take(posting, refused)
        return
      }
      const why = errorWords(error)
      const { code, message, cause } = refused
      throw new ChannelError(code, `${message}; nor is it a server of events: ${why}`, { cause })
    }
    await this.#post(posting)
  }

  /** The headers did not agree with the arguments: what is known of the tool may be out of date. */
  async #repeat(posting: Posting, mismatch: RpcFailure): Promise<void> {
    posting.isRepeated = true
    const { clock, acceptMs } = this.#line.settings
    const list = (message: Message, body: string, recipient: Recipient) => {
      const asking = new Posting(message, body, recipient, clock)
      for (const id of asking.waiting) this.#postings.set(id, asking)
      asking.leash.cutAfter(acceptMs)
      // Not behind others: the call that waits for it holds a place of its own.
      void this.#run(asking)
    }
    const isBetter = await refreshed(posting, this.#line, list)
    posting.mismatch = undefined
    if (isBetter && posting.waiting.size > 0) await this.#post(posting)
    else await this.#replies.take(posting, mismatch)
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
