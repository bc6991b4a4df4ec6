import type { Envelope } from '../../jsonrpc/channel.ts'
import { encodeError, encodeNotification, encodeResult } from '../../jsonrpc/codec/encode.ts'
import { errorObject, internalError, RpcError } from '../../jsonrpc/error.ts'
import type { Exchange } from '../../jsonrpc/handler.ts'
import type { ErrorObject, RpcRequest } from '../../jsonrpc/message.ts'
import { both } from '../../jsonrpc/peer/exchange.ts'
import type { IdTable } from '../../jsonrpc/peer/id-table.ts'
import { requestCost } from '../../jsonrpc/request-cost.ts'
import type { Authenticator } from '../../mcp/authenticator.ts'
import type { Caller } from '../../mcp/caller.ts'
import type { Endpoint } from '../../mcp/endpoint.ts'
import type { BudgetedRequest, RequestBudget } from '../../util/sockets/request-budget.ts'
import { writeLine } from '../../wire/sse.ts'
import type { EventStream, HttpReply, HttpRequest } from '../exchange.ts'
import type { Accepts } from './accept.ts'
import { deniedBy, httpStatusOf, json, noHeaders, overloaded } from './responses.ts'
import type { OpenStreams } from './sse-keep-alive.ts'

/** What stateless requests need from their service. */
export interface StatelessHost {
  readonly endpoint: Endpoint
  readonly streams: OpenStreams
  /** The requests in flight, by their numbers. */
  readonly open: IdTable<OpenRequest>
  /** The number of the latest request. */
  lastNumber: number
  /** The requests in flight that go on until the client or the service ends them. */
  readonly longLived: Set<OpenRequest>
  /** Makes the challenge for a caller that lacks scopes; undefined without authentication. */
  readonly auth?: Authenticator | undefined
  /** Called with internal errors, whose details the client does not get. */
  onError(error: unknown): void
  /** Called when a request has been answered or cancelled. */
  onSettled(): void
}

/** A request in flight. */
export interface OpenRequest {
  /** Ends a long-lived request in an orderly way, because the service is closing. */
  end(): void
  /** Aborts the request and responds with an error, because the time for closing is up. */
  abort(): void
}

/** A stateless request and its response. */
export interface StatelessRequest {
  readonly message: RpcRequest
  /** The request that carries the message; it also serves as its envelope. */
  readonly request: Envelope & Pick<HttpRequest, 'requestBudget'>
  readonly reply: HttpReply
  readonly accepts: Accepts
  readonly caller?: Caller | undefined
  /** The length of the message as text. */
  readonly bytes?: number | undefined
}

/**
 * Serves one stateless request. The response is JSON, or, once a notification precedes the result, an
 * event stream that ends with the result. A client that disconnects cancels the request.
 */
export function serveStateless(request: StatelessRequest, host: StatelessHost): void {
  const { message, caller } = request
  const post = new StatelessPost(request, host)
  if (!post.takeMemory(requestCost(message, request.bytes))) {
    post.refuse()
    return
  }
  let outcome: unknown
  try {
    outcome = host.endpoint.handle(message, post, caller)
  } catch (error) {
    post.fail(error)
    return
  }
  if (outcome instanceof Promise) {
    outcome.then(
      result => post.succeed(result),
      error => post.fail(error),
    )
  } else {
    post.succeed(outcome)
  }
}

class StatelessPost implements Exchange, OpenRequest, BudgetedRequest {
  readonly envelope: Envelope
  cost = 0
  readonly acceptsRaw = true
  readonly #number: number
  // Not the whole message: the connection refers to its last response for as long as it is open.
  readonly #id: RpcRequest['id']
  readonly #reply: HttpReply
  readonly #accepts: Accepts
  readonly #budget: RequestBudget | undefined
  readonly #host: StatelessHost
  #controller: AbortController | undefined
  #onAbort: ((reason: unknown) => void) | undefined
  #stream: EventStream | undefined
  #ending: (() => void) | undefined
  #stopExpiry: (() => void) | undefined
  #isSettled = false

  constructor({ message, request, reply, accepts }: StatelessRequest, host: StatelessHost) {
    this.#id = message.id
    this.envelope = request
    this.#reply = reply
    this.#accepts = accepts
    this.#budget = request.requestBudget
    this.#host = host
    reply.onDisconnect(() => this.#abort(disconnected()))
    this.#number = ++host.lastNumber
    host.open.set(this.#number, this)
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reply.isFinished) this.#controller.abort(disconnected())
    }
    return this.#controller.signal
  }

  get settled(): boolean {
    return this.#isSettled
  }

  onAbort(run: (reason: unknown) => void): void {
    if (this.#reply.isFinished) run(disconnected())
    else this.#onAbort = both(this.#onAbort, run)
  }

  readonly notify = (method: string, params?: object): void | Promise<void> => {
    // A client that accepts no events gets only the result.
    if (this.#isSettled || !this.#accepts.events) return
    return this.#events().write(writeLine(encodeNotification(method, params)))
  }

  onShutdown(run: () => void): void {
    this.#ending = run
    if (this.#isSettled) return
    this.#host.longLived.add(this)
    const { principal } = this.envelope
    if (principal === undefined) return
    // A stream that would go on ends with the token of its caller.
    this.#stopExpiry = this.#host.auth?.onAccessEnd(principal, () => this.end())
  }

  end(): void {
    this.#ending?.()
  }

  abort(): void {
    if (this.#isSettled) return
    const why = 'The server is closing'
    if (this.#stream !== undefined || !this.#reply.isFinished) {
      this.#write(encodeError(this.#id, -32000, why), 503)
    }
    this.#abort(new DOMException(why, 'AbortError'))
  }

  /** Counts the memory of the request while it is in flight. Returns false if there is too little. */
  takeMemory(cost: number): boolean {
    return this.#budget?.take(this, cost) ?? true
  }

  /** Responds that the server is overloaded. */
  refuse(): void {
    const text = encodeError(this.#id, -32000, 'Server overloaded')
    this.#reply.send(503, { ...json, ...overloaded }, text)
    this.#settled()
  }

  succeed(result: unknown): void {
    this.#budget?.release(this)
    if (this.#isSettled) return
    const id = this.#id
    let text: string
    try {
      text = encodeResult(id, result === undefined ? null : result)
    } catch (error) {
      this.#host.onError(error)
      this.#respond(encodeFailure(id, errorObject(internalError())), 200)
      return
    }
    this.#respond(text, 200)
  }

  fail(error: unknown): void {
    this.#budget?.release(this)
    if (this.#isSettled) return
    if (!(error instanceof RpcError)) this.#host.onError(error)
    const failure = errorObject(error instanceof RpcError ? error : internalError())
    const text = encodeFailure(this.#id, failure)
    const denied = deniedBy(this.#host.auth, failure, this.envelope.principal)
    if (denied !== undefined && this.#stream === undefined) {
      this.#reply.send(denied.status, { ...json, ...denied.headers }, text)
      this.#settled()
      return
    }
    this.#respond(text, httpStatusOf(failure.code))
  }

  #respond(text: string, status: number): void {
    this.#write(text, status)
    this.#settled()
  }

  #write(text: string, status: number): void {
    if (this.#stream === undefined && (this.#accepts.json || status !== 200)) {
      this.#reply.send(status, json, text)
    } else {
      const stream = this.#events()
      void stream.write(writeLine(text))
      stream.end()
    }
  }

  #events(): EventStream {
    this.#stream ??= this.#host.streams.open(this.#reply, noHeaders)
    return this.#stream
  }

  #abort(reason: unknown): void {
    if (this.#isSettled) return
    this.#settled()
    this.#budget?.abandon(this)
    this.#controller?.abort(reason)
    this.#onAbort?.(reason)
  }

  #settled(): void {
    this.#isSettled = true
    this.#stopExpiry?.()
    this.#host.open.delete(this.#number)
    this.#host.longLived.delete(this)
    this.#host.onSettled()
  }
}

function encodeFailure(id: RpcRequest['id'], { code, message, data }: ErrorObject): string {
  try {
    return encodeError(id, code, message, data)
  } catch {
    // Error data that cannot be encoded is left out; the error itself is still sent.
    return encodeError(id, code, message)
  }
}

function disconnected(): Error {
  return new DOMException('the client has closed its request', 'AbortError')
}
