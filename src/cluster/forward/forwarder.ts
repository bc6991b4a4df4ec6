import type { EventStream, HttpReply } from '../../http/exchange.ts'
import type { RemoteExchange } from '../../http/server/remote-sessions.ts'
import { json, noHeaders, overloaded, refusal, refuse } from '../../http/server/responses.ts'
import type { ForwardOutcome } from '../../observe/cluster/events.ts'
import { events } from '../../observe/events.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Clock } from '../../util/time/clock.ts'
import { writeLine } from '../../wire/sse.ts'
import type { LinkError } from '../link/link-error.ts'
import type { LinkStream } from '../link/link-stream.ts'
import type { Links } from '../link/links.ts'
import { notOwner, suspended } from './accept.ts'
import { ForwardAttempt } from './attempt.ts'
import { ContinuedReply } from './continued-reply.ts'
import { EventCopy } from './event-copy.ts'
import { ForwardedRequest, forwardedHead } from './forwarded-request.ts'
import { lostCall } from './lost-call.ts'
import type { SessionFinder, SessionPlace } from './session-place.ts'

/** What a forwarder needs of its node. */
export interface ForwarderHost {
  readonly links: Pick<Links, 'open'>
  readonly sessions: SessionFinder
  readonly clock: Clock
  /** Serves a request of a session that this process owns by now. */
  serveHere(request: ForwardedRequest, reply: HttpReply): void
}

/**
 * Forwards requests to the nodes that own their sessions, and copies the responses back. If an owner is lost, a request
 * that can be repeated is sent to its successor, an event stream is continued there, and any other request gets the
 * error "outcome unknown".
 */
export class Forwarder {
  readonly #host: ForwarderHost
  readonly #open = new Set<Forwarding>()

  constructor(host: ForwarderHost) {
    this.#host = host
  }

  /** The number of requests and streams that other nodes are serving. */
  get size(): number {
    return this.#open.size
  }

  /** Serves the request of a session that this process may not serve itself. */
  serve(session: string, exchange: RemoteExchange): void {
    const forwarding = new Forwarding(session, exchange, this.#host, () => {
      if (this.#open.delete(forwarding)) exchange.onSettled()
    })
    this.#open.add(forwarding)
    forwarding.begin()
  }

  /** Ends the event streams that are being copied, so that their clients reconnect to another node. */
  endStreams(): void {
    for (const forwarding of [...this.#open]) forwarding.endStream()
  }
}

/** One request on its way to the owner of its session. */
class Forwarding {
  readonly #session: string
  readonly #exchange: RemoteExchange
  readonly #host: ForwarderHost
  readonly #onSettled: () => void
  readonly #events = new EventCopy()
  /** Since when the request has been waiting for an owner; undefined while an owner serves it. */
  #waitingSince: number | undefined
  /** The event stream to the client, once the response has begun. */
  #client: EventStream | undefined
  #link: LinkStream | undefined
  #node = ''
  readonly #startedAt: number
  #attempts = 0
  #isSettled = false

  constructor(
    session: string,
    exchange: RemoteExchange,
    host: ForwarderHost,
    onSettled: () => void,
  ) {
    this.#session = session
    this.#exchange = exchange
    this.#host = host
    this.#onSettled = onSettled
    this.#startedAt = host.clock.now()
  }

  begin(): void {
    this.#exchange.reply.onDisconnect(() => {
      this.#link?.reset('disconnected')
      this.#settle('disconnected')
    })
    this.#locate()
  }

  endStream(): void {
    if (this.#client === undefined) return
    this.#client.end()
    this.#link?.reset('disconnected')
    this.#settle('disconnected')
  }

  #locate(): void {
    if (this.#isSettled) return
    const place = this.#host.sessions.find(this.#session)
    if (place instanceof Promise) void place.then(found => this.#go(found))
    else this.#go(place)
  }

  #go(place: SessionPlace): void {
    if (this.#isSettled) return
    switch (place.at) {
      case 'node':
        this.#forward(place)
        break
      case 'here':
        this.#serveHere()
        break
      case 'nowhere':
        this.#refuse(404, -32001, 'Session not found')
        break
      case 'unknown':
        this.#retryLater()
    }
  }

  #forward({ node, address }: SessionPlace & { at: 'node' }): void {
    this.#node = node
    this.#attempts++
    const { body } = this.#exchange
    const attempt = new ForwardAttempt(this.#target(), this.#events, this)
    const stream = this.#host.links.open({ node, address }, this.#head(), attempt)
    this.#link = stream
    if (body !== undefined && this.#events.lastId === undefined) void stream.send(body)
    stream.end()
  }

  #serveHere(): void {
    const body = this.#events.lastId === undefined ? this.#exchange.body : undefined
    const request = new ForwardedRequest(this.#head(), body ?? noBytes)
    const target = this.#target()
    this.#settle('local')
    this.#host.serveHere(request, target)
  }

  #head(): string {
    return forwardedHead(this.#session, this.#exchange.request, this.#events.lastId)
  }

  /** The response to the client, or the rest of it. */
  #target(): HttpReply {
    const { reply } = this.#exchange
    const client = this.#client
    if (client === undefined) return reply
    return new ContinuedReply(reply, client, () => this.#endLost(client))
  }

  complete(): void {
    this.#settle('ok')
  }

  streaming(stream: EventStream): void {
    this.#client ??= stream
    this.#waitingSince = undefined
  }

  failed(error: LinkError): void {
    if (this.#isSettled) return
    const { sessions } = this.#host
    const reason = error.code === 'reset' ? error.message : undefined
    if (reason === notOwner || reason === suspended) {
      if (reason === notOwner) sessions.wasNotAt(this.#session, this.#node)
      this.#retryLater()
    } else {
      sessions.suspect(this.#node)
      const wasReceived = error.code === 'lost' || error.code === 'reset'
      const mayBeExecuted = wasReceived && !sessions.hasDrained(this.#node)
      if (!mayBeExecuted) this.#retryLater()
      else if (this.#client === undefined) this.#lost()
      else this.#continue(this.#client)
    }
  }

  /** The owner was lost after it had got the request, and before it began to respond. */
  #lost(): void {
    const { body, reply } = this.#exchange
    const { isRepeatable, reply: text } = body === undefined ? repeatable : lostCall(body)
    if (isRepeatable) {
      this.#retryLater()
      return
    }
    if (text === undefined) reply.send(202, {})
    else reply.send(200, json, text)
    this.#settle('unknown')
  }

  /** The owner was lost in the middle of an event stream. */
  #continue(client: EventStream): void {
    const isRequest = this.#exchange.body !== undefined
    if (isRequest && this.#events.lastId === undefined) this.#endLost(client)
    else this.#retryLater()
  }

  /** Ends an event stream that cannot be continued. A request gets the error "outcome unknown" on it. */
  #endLost(client: EventStream): void {
    const { body } = this.#exchange
    const text = body && lostCall(body).reply
    if (text !== undefined) void client.write(writeLine(text, 'event: message\n'))
    client.end()
    this.#settle('unknown')
  }

  #retryLater(): void {
    const { clock } = this.#host
    this.#waitingSince ??= clock.now()
    if (clock.now() - this.#waitingSince >= limits.forwardWaitMs.default) {
      this.#refuse(503, -32000, 'The node that has this session cannot be reached')
    } else {
      clock.start(() => this.#locate(), limits.forwardRetryMs.default)
    }
  }

  #refuse(status: number, code: number, message: string): void {
    const { reply } = this.#exchange
    if (this.#client !== undefined) {
      this.#endLost(this.#client)
      return
    }
    const headers = status === 503 ? overloaded : noHeaders
    if (!reply.isFinished) refuse(reply, refusal(status, code, message), headers)
    this.#settle(status === 404 ? 'not-found' : 'unavailable')
  }

  #settle(outcome: ForwardOutcome): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#onSettled()
    if (!events.requestForwarded.hasSubscribers) return
    events.requestForwarded.publish({
      outcome,
      attempts: this.#attempts,
      isStream: this.#client !== undefined,
      durationMs: this.#host.clock.now() - this.#startedAt,
    })
  }
}

const noBytes = new Uint8Array()
const repeatable = { isRepeatable: true, reply: undefined }
