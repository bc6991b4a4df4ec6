import { ChannelError } from '../../jsonrpc/channel.ts'
import { decodeBy } from '../../jsonrpc/codec/decode.ts'
import type { Decoded, Entry, Id, Malformed, RpcFailure, RpcResult } from '../../jsonrpc/message.ts'
import { addressText } from '../../util/text/address-text.ts'
import type { IncomingEvent } from '../../wire/sse.ts'
import type { HttpEndpoint } from './endpoint.ts'
import type { PendingPost } from './post.ts'

/** Delivers what arrives for requests, and keeps what the channel itself needs of it. */
export class Replies {
  readonly #endpoint: HttpEndpoint
  readonly #onReply: (id: Id) => void

  /** `onReply` is called for each request that has got its reply. */
  constructor(endpoint: HttpEndpoint, onReply: (id: Id) => void) {
    this.#endpoint = endpoint
    this.#onReply = onReply
  }

  /**
   * Handles the body of a response. Throws a ChannelError `'framing'` for a body that is not a message.
   */
  takeBody(post: PendingPost, bytes: Uint8Array): void | Promise<void> {
    const arrival = decodeBy(bytes, this.#endpoint.settings.rules)
    if (arrival.type === 'invalid' && !isReplyTo(post, arrival)) {
      throw new ChannelError('framing', `the response is not a valid message: ${arrival.detail}`)
    }
    return this.take(post, arrival)
  }

  /** Handles one event of a response. */
  takeEvent(post: PendingPost, event: IncomingEvent): void | Promise<void> {
    const arrival = this.read(event)
    return arrival === undefined ? undefined : this.take(post, arrival)
  }

  /** Decodes the message of an event; undefined for an event of another type. */
  read({ event, data, damaged }: IncomingEvent): Decoded | undefined {
    if (event !== 'message') return undefined
    if (!damaged) return decodeBy(data, this.#endpoint.settings.eventRules)
    this.#report('an event that is not UTF-8')
    return undefined
  }

  /** Delivers what arrived for a request: its reply, or a message that belongs to it. */
  take(post: PendingPost, arrival: Decoded): void | Promise<void> {
    if (arrival.type !== 'batch') return this.#takeOne(post, arrival)
    // Entry by entry: each reply is matched to its call by id.
    const rooms = arrival.entries.map(entry => this.#takeOne(post, entry))
    return rooms.findLast(room => room !== undefined)
  }

  #takeOne(post: PendingPost, entry: Entry): void | Promise<void> {
    const { recipient } = post
    switch (entry.type) {
      case 'result':
      case 'error':
        return this.#takeReply(post, entry)
      case 'request':
        if (post.isStateless) return this.#report(`a request, ${entry.method}`)
        return recipient.receive(entry, about(post))
      case 'notification':
        return recipient.receive(entry, about(post))
      case 'invalid':
        if (!isReplyTo(post, entry)) return this.#report(`an invalid message: ${entry.detail}`)
        this.#settle(post, entry.id)
        return recipient.receive(entry, about(post))
    }
  }

  #takeReply(post: PendingPost, reply: RpcResult | RpcFailure): void | Promise<void> {
    const { id } = reply
    // An error without an id answers the whole POST, whose id the server could not read.
    if (id === null && reply.type === 'error') {
      for (const waiting of [...post.waiting]) {
        void this.#takeReply(post, { type: 'error', id: waiting, error: reply.error })
      }
      return undefined
    }
    if (id === null || !post.waiting.has(id)) {
      if (post.isStateless) return this.#report('the reply to another request')
      return post.recipient.receive(reply, {})
    }
    if (isMismatch(post, reply)) {
      post.mismatch = reply
      return undefined
    }
    const known = this.#learn(post, reply)
    const envelope = about(post)
    this.#settle(post, id)
    return post.recipient.receive(known, envelope)
  }

  /** Stores what later requests need, and removes tools that must not be used. */
  #learn(post: PendingPost, reply: RpcResult | RpcFailure): RpcResult | RpcFailure {
    if (reply.type !== 'result') return reply
    if (post.isInitialize) this.#endpoint.session.setRevision(reply.result)
    if (post.method !== 'tools/list' || !post.isStateless) return reply
    const result = this.#endpoint.tools.learn(reply.result, (tool, why) => {
      this.#report(`the tool "${tool}", which was left out: ${why}`)
    })
    return result === reply.result ? reply : { ...reply, result }
  }

  #settle(post: PendingPost, id: Id | null): void {
    if (id === null) return
    post.waiting.delete(id)
    this.#onReply(id)
  }

  #report(what: string): void {
    const words = `${addressText(this.#endpoint.url)} sent something unusable: ${what}`
    this.#endpoint.settings.onError(new ChannelError('framing', words))
  }
}

function about(post: PendingPost): { readonly about?: Id } {
  for (const id of post.waiting) return { about: id }
  return {}
}

function isReplyTo(post: PendingPost, { reply, id }: Malformed): boolean {
  return reply === true && id !== null && post.waiting.has(id)
}

/** Whether a stateless server reports that the headers of a tool call do not match its arguments. */
function isMismatch(post: PendingPost, reply: RpcResult | RpcFailure): reply is RpcFailure {
  if (reply.type !== 'error' || reply.error.code !== -32020) return false
  return post.isStateless && post.method === 'tools/call' && !post.isRepeated
}
