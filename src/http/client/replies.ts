import { ChannelError } from '../../jsonrpc/channel.ts'
import { decodeBy } from '../../jsonrpc/codec/decode.ts'
import type { Decoded, Entry, Id, Malformed, RpcFailure, RpcResult } from '../../jsonrpc/message.ts'
import type { IncomingEvent } from '../../wire/sse.ts'
import type { Line } from './endpoint.ts'
import type { Posting } from './post.ts'

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
  takeBody(posting: Posting, bytes: Uint8Array): void | Promise<void> {
    const arrival = decodeBy(bytes, this.#line.settings.rules)
    if (arrival.type === 'invalid' && !isReplyTo(posting, arrival)) {
      throw new ChannelError('framing', `the answer is no message: ${arrival.detail}`)
    }
    return this.take(posting, arrival)
  }

  /** Takes one event of an answer. */
  takeEvent(posting: Posting, event: IncomingEvent): void | Promise<void> {
    const arrival = this.read(event)
    return arrival === undefined ? undefined : this.take(posting, arrival)
  }

  /** The message in an event; undefined for an event of another kind. */
  read({ event, data, damaged }: IncomingEvent): Decoded | undefined {
    if (event !== 'message') return undefined
    if (!damaged) return decodeBy(data, this.#line.settings.eventRules)
    this.#report('an event that is no UTF-8')
    return undefined
  }

  /** Takes what came for a request: its reply, or what belongs to it. */
  take(posting: Posting, arrival: Decoded): void | Promise<void> {
    if (arrival.type !== 'batch') return this.#takeOne(posting, arrival)
    // One by one: replies find their calls however they come.
    const rooms = arrival.entries.map(entry => this.#takeOne(posting, entry))
    return rooms.findLast(room => room !== undefined)
  }

  #takeOne(posting: Posting, entry: Entry): void | Promise<void> {
    const { recipient } = posting
    switch (entry.type) {
      case 'result':
      case 'error':
        return this.#takeReply(posting, entry)
      case 'request':
        if (posting.isStateless) return this.#report(`a request, ${entry.method}`)
        return recipient.receive(entry, about(posting))
      case 'notification':
        return recipient.receive(entry, about(posting))
      case 'invalid':
        if (!isReplyTo(posting, entry)) return this.#report(`no message: ${entry.detail}`)
        this.#settle(posting, entry.id)
        return recipient.receive(entry, about(posting))
    }
  }

  #takeReply(posting: Posting, reply: RpcResult | RpcFailure): void | Promise<void> {
    const { id } = reply
    // An error without an id answers what was posted, whose id could not be read.
    if (id === null && reply.type === 'error') {
      for (const waiting of [...posting.waiting]) {
        void this.#takeReply(posting, { type: 'error', id: waiting, error: reply.error })
      }
      return undefined
    }
    if (id === null || !posting.waiting.has(id)) {
      if (posting.isStateless) return this.#report('the reply to another request')
      return posting.recipient.receive(reply, {})
    }
    if (isMismatch(posting, reply)) {
      posting.mismatch = reply
      return undefined
    }
    const known = this.#learn(posting, reply)
    const envelope = about(posting)
    this.#settle(posting, id)
    return posting.recipient.receive(known, envelope)
  }

  /** Keeps what later requests need to know, and leaves out what must not be used. */
  #learn(posting: Posting, reply: RpcResult | RpcFailure): RpcResult | RpcFailure {
    if (reply.type !== 'result') return reply
    if (posting.isOpening) this.#line.session.takeResult(reply.result)
    if (posting.method !== 'tools/list' || !posting.isStateless) return reply
    const result = this.#line.tools.learn(reply.result, (tool, why) => {
      this.#report(`the tool "${tool}", which is left out: ${why}`)
    })
    return result === reply.result ? reply : { ...reply, result }
  }

  #settle(posting: Posting, id: Id | null): void {
    if (id === null) return
    posting.waiting.delete(id)
    this.#onReply(id)
  }

  #report(what: string): void {
    const words = `${this.#line.url.href} sends what cannot be used: ${what}`
    this.#line.settings.onError(new ChannelError('framing', words))
  }
}

function about(posting: Posting): { readonly about?: Id } {
  for (const id of posting.waiting) return { about: id }
  return {}
}

function isReplyTo(posting: Posting, { reply, id }: Malformed): boolean {
  return reply === true && id !== null && posting.waiting.has(id)
}

/** Whether a stateless server finds that headers and arguments of a tool call do not agree. */
function isMismatch(posting: Posting, reply: RpcResult | RpcFailure): reply is RpcFailure {
  if (reply.type !== 'error' || reply.error.code !== -32020) return false
  return posting.isStateless && posting.method === 'tools/call' && !posting.isRepeated
}
