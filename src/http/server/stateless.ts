import type { Envelope } from '../../jsonrpc/channel.ts'
import { encodeError, encodeNotification, encodeResult } from '../../jsonrpc/codec/encode.ts'
import { errorObject, internalError, RpcError } from '../../jsonrpc/error.ts'
import type { Exchange } from '../../jsonrpc/handler.ts'
import type { ErrorObject, RpcRequest } from '../../jsonrpc/message.ts'
import { both } from '../../jsonrpc/peer/exchange.ts'
import type { IdTable } from '../../jsonrpc/peer/id-table.ts'
import type { Endpoint } from '../../mcp/endpoint.ts'
import { writeLine } from '../../wire/sse.ts'
import type { EventStream, HttpReply } from '../exchange.ts'
import type { Accepts } from './accept.ts'
import { json } from './responses.ts'
import { statusOf } from './status.ts'

/** What answering a POST needs of the service it came to. */
export interface PostHost {
  readonly endpoint: Endpoint
  /** What is being answered, by its number. */
  readonly open: IdTable<OpenPost>
  /** The number of the latest. */
  opened: number
  /** Those of them that go on until somebody ends them. */
  readonly lasting: Set<OpenPost>
  /** Told what went wrong inside and the client is not told. */
  onError(error: unknown): void
  /** The request has been answered, or nobody waits for it any more. */
  onSettled(): void
}

/** A request that is being answered. */
export interface OpenPost {
  /** The service takes leave: what would go on for ever ends in good order. */
  end(): void
  /** There is no more time: whoever waits is told so. */
  giveUp(): void
}

/**
 * Answers one request that speaks for itself: as JSON, or, once something is told ahead of the
 * result, as an event stream that ends with it. A client that goes away has cancelled it.
 */
export function answerPost(
  message: RpcRequest,
  envelope: Envelope,
  reply: HttpReply,
  accepts: Accepts,
  host: PostHost,
): void {
  const post = new StatelessPost(message, envelope, reply, accepts, host)
  let outcome: unknown
  try {
    outcome = host.endpoint.handle(message, post)
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

class StatelessPost implements Exchange, OpenPost {
  readonly envelope: Envelope
  readonly takesWritten = true
  readonly #number: number
  readonly #message: RpcRequest
  readonly #reply: HttpReply
  readonly #accepts: Accepts
  readonly #host: PostHost
  #controller: AbortController | undefined
  #onAbort: ((reason: unknown) => void) | undefined
  #stream: EventStream | undefined
  #ending: (() => void) | undefined
  #isSettled = false

  constructor(
    message: RpcRequest,
    envelope: Envelope,
    reply: HttpReply,
    accepts: Accepts,
    host: PostHost,
  ) {
    this.#message = message
    this.envelope = envelope
    this.#reply = reply
    this.#accepts = accepts
    this.#host = host
    reply.onGone(() => this.#abort(gone()))
    this.#number = ++host.opened
    host.open.set(this.#number, this)
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reply.isOver) this.#controller.abort(gone())
    }
    return this.#controller.signal
  }

  onAbort(run: (reason: unknown) => void): void {
    if (this.#reply.isOver) run(gone())
    else this.#onAbort = both(this.#onAbort, run)
  }

  readonly notify = (method: string, params?: object): void | Promise<void> => {
    // Whoever takes no events is not told of anything but the result.
    if (this.#isSettled || !this.#accepts.events) return
    return this.#events().write(writeLine(encodeNotification(method, params)))
  }

  onEnding(run: () => void): void {
    this.#ending = run
    if (!this.#isSettled) this.#host.lasting.add(this)
  }

  end(): void {
    this.#ending?.()
  }

  giveUp(): void {
    if (this.#isSettled) return
    const why = 'The server is closing'
    if (this.#stream !== undefined || !this.#reply.isOver) {
      this.#write(encodeError(this.#message.id, -32000, why), 503)
    }
    this.#abort(new DOMException(why, 'AbortError'))
  }

  succeed(result: unknown): void {
    if (this.#isSettled) return
    const { id } = this.#message
    let text: string
    try {
      text = encodeResult(id, result === undefined ? null : result)
    } catch (error) {
      this.#host.onError(error)
      this.#answer(encodeFailure(id, errorObject(internalError())), 200)
      return
    }
    this.#answer(text, 200)
  }

  fail(error: unknown): void {
    if (this.#isSettled) return
    if (!(error instanceof RpcError)) this.#host.onError(error)
    const failure = errorObject(error instanceof RpcError ? error : internalError())
    this.#answer(encodeFailure(this.#message.id, failure), statusOf(failure.code))
  }

  #answer(text: string, status: number): void {
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
    this.#stream ??= this.#reply.stream({})
    return this.#stream
  }

  #abort(reason: unknown): void {
    if (this.#isSettled) return
    this.#settled()
    this.#controller?.abort(reason)
    this.#onAbort?.(reason)
  }

  #settled(): void {
    this.#isSettled = true
    this.#host.open.delete(this.#number)
    this.#host.lasting.delete(this)
    this.#host.onSettled()
  }
}

function encodeFailure(id: RpcRequest['id'], { code, message, data }: ErrorObject): string {
  try {
    return encodeError(id, code, message, data)
  } catch {
    // What cannot be said of the error is left out; that it happened is not.
    return encodeError(id, code, message)
  }
}

function gone(): Error {
  return new DOMException('the client has closed its request', 'AbortError')
}
