import type { Channel, Sink } from '../../jsonrpc/channel.ts'
import {
  type DecodeOptions,
  type DecodeRules,
  decodeRules,
  withMaxBytes,
} from '../../jsonrpc/codec/decode-rules.ts'
import { encode } from '../../jsonrpc/codec/encode.ts'
import type { Handler } from '../../jsonrpc/handler.ts'
import type { Decoded, Message } from '../../jsonrpc/message.ts'
import type { PeerOptions } from '../../jsonrpc/peer/options.ts'
import { Peer } from '../../jsonrpc/peer/peer.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Gate } from '../../util/origin.ts'
import type { HttpHandler, HttpReply, HttpRequest } from '../exchange.ts'
import { messageIn } from './body.ts'
import { bodyGuard, OriginGuard } from './guard.ts'
import { InFlight } from './in-flight.ts'
import { json, refusal, refuse } from './responses.ts'

/** How plain JSON-RPC over HTTP is served. */
export interface RpcServiceOptions extends Pick<Gate, 'allowedHosts' | 'allowedOrigins'> {
  readonly path?: string
  readonly decode?: DecodeOptions
  readonly peer?: PeerOptions
  readonly maxInFlight?: number
}

/**
 * Plain JSON-RPC over HTTP: a POST holds a message or a batch, its answer the reply; where there is
 * none to send it is 204. A client that goes away has cancelled what it asked.
 */
export class RpcService implements HttpHandler {
  readonly #handler: Handler
  readonly #options: RpcServiceOptions
  readonly #rules: DecodeRules
  readonly #inFlight: InFlight
  readonly #guard: OriginGuard
  #isClosing = false

  constructor(handler: Handler, options: RpcServiceOptions = {}) {
    this.#handler = handler
    this.#options = options
    this.#rules = decodeRules(withMaxBytes(options.decode, limits.httpMessageBytes.default))
    this.#inFlight = new InFlight(options.maxInFlight ?? limits.httpInFlight.default)
    this.#guard = new OriginGuard(options)
  }

  handle(request: HttpRequest, reply: HttpReply): void {
    const { path } = this.#options
    const foreign = this.#guard.problem(request)
    if (foreign !== undefined) refuse(reply, refusal(foreign.status, -32000, foreign.why))
    else if (path !== undefined && request.path !== path) {
      refuse(reply, refusal(404, -32000, 'There is nothing at this path'))
    } else if (request.method !== 'POST')
      refuse(reply, refusal(405, -32000, 'Method not allowed'), { allow: 'POST' })
    else if (this.#isClosing) {
      const headers = { connection: 'close', 'retry-after': '1' }
      refuse(reply, refusal(503, -32000, 'The server is closing'), headers)
    } else this.#post(request, reply)
  }

  /** Takes nothing more and answers what is in flight, within a time. */
  close(options: { readonly drainMs?: number } = {}): Promise<void> {
    this.#isClosing = true
    return this.#inFlight.drained(options.drainMs ?? limits.drainMs.default)
  }

  #post(request: HttpRequest, reply: HttpReply): void {
    const unreadable = bodyGuard(request)
    if (unreadable !== undefined) refuse(reply, refusal(unreadable.status, -32000, unreadable.why))
    else if (this.#inFlight.isFull()) {
      refuse(reply, refusal(503, -32000, 'Server overloaded'), { 'retry-after': '1' })
    } else {
      request.body(this.#rules.maxBytes, bytes => this.#answer(bytes, request, reply))
    }
  }

  #answer(bytes: Uint8Array | undefined, { principal }: HttpRequest, reply: HttpReply): void {
    const arrival = messageIn(bytes, this.#rules)
    const channel = new PostChannel(reply, bytes === undefined ? 413 : 200)
    const peer = new Peer(channel, this.#handler, this.#options.peer)
    this.#inFlight.enter()
    void peer.closed.then(() => this.#inFlight.leave())
    channel.receive(arrival, { principal })
    if (!isAsking(arrival)) channel.send([])
  }
}

/** The channel of one POST: one arrival, and the reply to it. */
class PostChannel implements Channel {
  readonly #reply: HttpReply
  readonly #status: number
  #sink: Sink | undefined

  constructor(reply: HttpReply, status: number) {
    this.#reply = reply
    this.#status = status
    reply.onGone(() => this.#end())
  }

  open(sink: Sink): void {
    this.#sink = sink
  }

  receive(...[arrival, envelope]: Parameters<Sink['receive']>): void {
    void this.#sink?.receive(arrival, envelope)
  }

  send(message: Message | readonly Message[]): void {
    // Only the reply has a place to go.
    if ('type' in message && (message.type === 'request' || message.type === 'notification')) return
    const isNothing = Array.isArray(message) && message.length === 0
    if (isNothing) this.#reply.send(204, {})
    else this.#reply.send(this.#status, json, encode(message))
    queueMicrotask(() => this.#end())
  }

  async close(): Promise<void> {
    this.#end()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #end(): void {
    const sink = this.#sink
    this.#sink = undefined
    sink?.closed()
  }
}

/** Whether somebody waits for a reply: what cannot be read is answered too. */
function isAsking(arrival: Decoded): boolean {
  if (arrival.type === 'batch') return arrival.entries.some(isAsking)
  return arrival.type === 'request' || arrival.type === 'invalid'
}
