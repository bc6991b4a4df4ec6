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
import type { Authenticator } from '../../mcp/authenticator.ts'
import { limits } from '../../util/limits/limits.ts'
import type { OriginPolicy } from '../../util/origin.ts'
import type { RequestBudget } from '../../util/sockets/request-budget.ts'
import type { HttpHandler, HttpReply, HttpRequest } from '../exchange.ts'
import { AuthGate, unauthorized } from './auth-gate.ts'
import { bodyGuard, OriginGuard } from './guard.ts'
import { InFlight } from './in-flight.ts'
import {
  decodeBody,
  json,
  nothingServed,
  overloaded,
  refusal,
  refuse,
  refuseAuth,
  withBody,
} from './responses.ts'

/** Options of serving plain JSON-RPC over HTTP. */
export interface RpcServiceOptions extends Pick<OriginPolicy, 'allowedHosts' | 'allowedOrigins'> {
  readonly path?: string
  readonly decode?: DecodeOptions
  readonly peer?: PeerOptions
  readonly maxInFlight?: number
  /** Authenticates callers. */
  readonly auth?: Authenticator | undefined
}

/**
 * Serves plain JSON-RPC over HTTP. A POST holds a message or a batch, and its response holds the reply;
 * without a reply the response is 204. A client that disconnects cancels its request.
 */
export class RpcService implements HttpHandler {
  readonly #handler: Handler
  readonly #options: RpcServiceOptions
  readonly #rules: DecodeRules
  readonly #inFlight: InFlight
  readonly #guard: OriginGuard
  readonly #gate: AuthGate | undefined
  #isClosed = false

  constructor(handler: Handler, options: RpcServiceOptions = {}) {
    this.#handler = handler
    this.#options = options
    this.#rules = decodeRules(
      withMaxBytes(options.decode, 'http', limits.callerMessageBytes.default),
    )
    this.#inFlight = new InFlight(options.maxInFlight ?? limits.httpInFlight.default)
    this.#guard = new OriginGuard(options)
    const { auth, path } = options
    this.#gate =
      auth &&
      new AuthGate(auth, {
        path: path ?? '/',
        serves: request => path === undefined || request.path === path,
        route: (request, reply) => this.#route(request, reply),
      })
  }

  handle(request: HttpRequest, reply: HttpReply): void {
    const foreign = this.#guard.problem(request)
    if (foreign !== undefined) refuse(reply, refusal(foreign.status, -32000, foreign.why))
    else if (this.#gate === undefined) this.#route(request, reply)
    else this.#gate.enter(request, reply)
  }

  #route(request: HttpRequest, reply: HttpReply): void {
    const { path } = this.#options
    if (path !== undefined && request.path !== path) {
      refuse(reply, nothingServed(request, path))
    } else if (request.method !== 'POST')
      refuse(reply, refusal(405, -32000, 'Method not allowed'), { allow: 'POST' })
    else if (this.#isClosed) {
      const headers = { connection: 'close', 'retry-after': '1' }
      refuse(reply, refusal(503, -32000, 'The server is closing'), headers)
    } else this.#post(request, reply)
  }

  async drain(options: { readonly drainMs?: number } = {}): Promise<void> {
    const inTime = await this.#inFlight.drained(options.drainMs ?? limits.drainMs.default)
    if (!inTime) this.#isClosed = true
  }

  async close(options: { readonly drainMs?: number } = {}): Promise<void> {
    await this.drain(options)
    this.#isClosed = true
  }

  #post(request: HttpRequest, reply: HttpReply): void {
    const unreadable = bodyGuard(request)
    if (unreadable !== undefined) refuse(reply, refusal(unreadable.status, -32000, unreadable.why))
    else if (this.#inFlight.isFull()) {
      refuse(reply, refusal(503, -32000, 'Server overloaded'), overloaded)
    } else {
      withBody(request, reply, this.#rules.maxBytes, bytes => this.#respond(bytes, request, reply))
    }
  }

  #respond(bytes: Uint8Array | undefined, request: HttpRequest, reply: HttpReply): void {
    const arrival = decodeBody(bytes, this.#rules)
    const { auth } = this.#options
    const denied =
      auth && arrival.type !== 'invalid' ? unauthorized(auth, arrival, request) : undefined
    if (denied !== undefined) {
      refuseAuth(reply, denied, arrival.type === 'request' ? arrival.id : null)
      return
    }
    const { principal, requestBudget } = request
    const channel = new PostChannel(reply, bytes === undefined ? 413 : 200, requestBudget)
    const peer = new Peer(channel, this.#handler, this.#options.peer)
    this.#inFlight.enter()
    void peer.closed.then(() => this.#inFlight.leave())
    channel.receive(arrival, { principal }, bytes?.length)
    if (!needsReply(arrival)) channel.send([])
  }
}

/** The channel of one POST, which receives one message or batch and sends the reply. */
class PostChannel implements Channel {
  readonly requestBudget: RequestBudget | undefined
  readonly #reply: HttpReply
  readonly #status: number
  #sink: Sink | undefined

  constructor(reply: HttpReply, status: number, requestBudget: RequestBudget | undefined) {
    this.requestBudget = requestBudget
    this.#reply = reply
    this.#status = status
    reply.onDisconnect(() => this.#end())
  }

  open(sink: Sink): void {
    this.#sink = sink
  }

  receive(...[arrival, envelope, bytes]: Parameters<Sink['receive']>): void {
    void this.#sink?.receive(arrival, envelope, bytes)
  }

  send(message: Message | readonly Message[]): void {
    // A POST has room for the reply only.
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

/** Whether a reply is expected. Input that cannot be decoded gets one as well. */
function needsReply(arrival: Decoded): boolean {
  if (arrival.type === 'batch') return arrival.entries.some(needsReply)
  return arrival.type === 'request' || arrival.type === 'invalid'
}
