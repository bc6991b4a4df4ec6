import { ChannelError } from '../jsonrpc/channel.ts'
import { decodeBy } from '../jsonrpc/decode.ts'
import type { Decoded, Entry, Id, Malformed, RpcFailure, RpcResult } from '../jsonrpc/message.ts'
import type { IncomingEvent } from '../wire/sse.ts'
import type { Exchange } from './client-exchange.ts'
import type { Line } from './client-line.ts'

/** Passes on what comes for requests, looking at what the channel itself has to know of it. */
export class Replies {
  readonly #line: Line
  readonly #onReply: (id: Id) => void

  /** `onReply` is told of each request that has its reply. */
  constructor(line: Line, onReply: (id: Id) => void) {
    this.#line = line
    this.#onReply = onReply
  }

  /** Takes the body of an answer. Throws a ChannelError `'framing'` for what is no message. */
  takeBody(exchange: Exchange, bytes: Uint8Array): void | Promise<void> {
    const arrival = decodeBy(bytes, this.#line.settings.rules)
    if (arrival.type === 'invalid' && !isReplyTo(exchange, arrival)) {
      throw new ChannelError('framing', `the answer is no message: ${arrival.detail}`)
    }
    return this.take(exchange, arrival)
  }

  /** Takes one event of an answer. */
  takeEvent(exchange: Exchange, event: IncomingEvent): void | Promise<void> {
    const arrival = this.read(event)
    return arrival === undefined ? undefined : this.take(exchange, arrival)
  }

  /** The message in an event; undefined for an event of another kind. */
  read({ event, data, damaged }: IncomingEvent): Decoded | undefined {
    if (event !== 'message') return undefined
    if (!damaged) return decodeBy(data, this.#line.settings.eventRules)
    this.#report('an event that is no UTF-8')
    return undefined
  }

  /** Takes what came for a request: its reply, or what belongs to it. */
  take(exchange: Exchange, arrival: Decoded): void | Promise<void> {
    if (arrival.type !== 'batch') return this.#takeOne(exchange, arrival)
    // One by one: replies find their calls however they come.
    const rooms = arrival.entries.map(entry => this.#takeOne(exchange, entry))
    return rooms.findLast(room => room !== undefined)
  }

  #takeOne(exchange: Exchange, entry: Entry): void | Promise<void> {
    const { recipient } = exchange
    switch (entry.type) {
      case 'result':
      case 'error':
        return this.#takeReply(exchange, entry)
      case 'request':
        if (exchange.isStateless) return this.#report(`a request, ${entry.method}`)
        return recipient.receive(entry, about(exchange))
      case 'notification':
        return recipient.receive(entry, about(exchange))
      case 'invalid':
        if (!isReplyTo(exchange, entry)) return this.#report(`no message: ${entry.detail}`)
        this.#settle(exchange, entry.id)
        return recipient.receive(entry, about(exchange))
    }
  }

  #takeReply(exchange: Exchange, reply: RpcResult | RpcFailure): void | Promise<void> {
    const { id } = reply
    // An error without an id answers what was posted, whose id could not be read.
    if (id === null && reply.type === 'error') {
      for (const waiting of [...exchange.waiting]) {
        void this.#takeReply(exchange, { type: 'error', id: waiting, error: reply.error })
      }
      return undefined
    }
    if (id === null || !exchange.waiting.has(id)) {
      if (exchange.isStateless) return this.#report('the reply to another request')
      return exchange.recipient.receive(reply, {})
    }
    if (isMismatch(exchange, reply)) {
      exchange.mismatch = reply
      return undefined
    }
    const known = this.#learn(exchange, reply)
    const envelope = about(exchange)
    this.#settle(exchange, id)
    return exchange.recipient.receive(known, envelope)
  }

  /** Keeps what later requests need to know, and leaves out what must not be used. */
  #learn(exchange: Exchange, reply: RpcResult | RpcFailure): RpcResult | RpcFailure {
    if (reply.type !== 'result') return reply
    if (exchange.isOpening) this.#line.session.takeResult(reply.result)
    if (exchange.method !== 'tools/list' || !exchange.isStateless) return reply
    const result = this.#line.tools.learn(reply.result, (tool, why) => {
      this.#report(`the tool "${tool}", which is left out: ${why}`)
    })
    return result === reply.result ? reply : { ...reply, result }
  }

  #settle(exchange: Exchange, id: Id | null): void {
    if (id === null) return
    exchange.waiting.delete(id)
    this.#onReply(id)
  }

  #report(what: string): void {
    const words = `${this.#line.url.href} sends what cannot be used: ${what}`
    this.#line.settings.onError(new ChannelError('framing', words))
  }
}

function about(exchange: Exchange): { readonly about?: Id } {
  for (const id of exchange.waiting) return { about: id }
  return {}
}

function isReplyTo(exchange: Exchange, { reply, id }: Malformed): boolean {
  return reply === true && id !== null && exchange.waiting.has(id)
}

/** Whether a stateless server finds that headers and arguments of a tool call do not agree. */
function isMismatch(exchange: Exchange, reply: RpcResult | RpcFailure): reply is RpcFailure {
  if (reply.type !== 'error' || reply.error.code !== -32020) return false
  return exchange.isStateless && exchange.method === 'tools/call' && !exchange.isRepeated
}
