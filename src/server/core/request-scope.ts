import { parseRaw } from '../../jsonrpc/codec/raw-json.ts'
import type { Exchange } from '../../jsonrpc/handler.ts'
import { fromThenable } from '../../util/promises.ts'
import {
  type HandlerResult,
  type IncomingRequest,
  type NamedParams,
  whenReady,
} from '../request.ts'
import { type RequestDetails, RequestView } from '../request-context.ts'
import type { AnyAround, NextOptions } from './around.ts'

/** Makes what handlers get as `ctx.env`, once per request. What it throws answers the request. */
export type ContextFactory<Env> = (request: RequestDetails) => Env | Promise<Env>

type RequestHandler = (request: IncomingRequest) => HandlerResult

/** What a server adds to the requests that its features answer. */
export interface Scope {
  /** Returns a request with the environment of the server. */
  enter(request: IncomingRequest): IncomingRequest | Promise<IncomingRequest>
  /** Runs a handler with the environment and inside the middlewares of the server. */
  run(request: IncomingRequest, handler: RequestHandler): HandlerResult
}

/**
 * What a server adds to its requests: the environment of its option `context`, and the middlewares of
 * `around`. A mounted server has a scope of its own, inside that of the server it is mounted on.
 */
export class RequestScope implements Scope {
  readonly #context: ContextFactory<unknown> | undefined
  readonly #arounds = new Map<string, AnyAround[]>()
  /** The environment of requests that were looked at before they run. */
  readonly #entered = new WeakMap<IncomingRequest, IncomingRequest | Promise<IncomingRequest>>()

  constructor(context: ContextFactory<unknown> | undefined) {
    this.#context = context
  }

  /** Adds a middleware around the requests of a method; the first is outermost. */
  add(method: string, around: AnyAround): void {
    const all = this.#arounds.get(method)
    if (all === undefined) this.#arounds.set(method, [around])
    else all.push(around)
  }

  /** Whether requests of a method get nothing from this scope, unless a handler of it reads the environment. */
  isIdle(method: string): boolean {
    return this.#context === undefined && !this.#arounds.has(method)
  }

  /** Whether a middleware was added around the requests of a method. */
  hasAround(method: string): boolean {
    return this.#arounds.has(method)
  }

  /**
   * Returns a request with the environment of this scope: what `context` returns, else that of the
   * enclosing scope. Calls `context` once per request.
   */
  enter(request: IncomingRequest): IncomingRequest | Promise<IncomingRequest> {
    const context = this.#context
    if (context === undefined) return request
    let entered = this.#entered.get(request)
    if (entered === undefined) {
      const env = fromThenable(context(new RequestView(request)))
      entered = whenReady(env, value => ({ ...request, env: value }))
      this.#entered.set(request, entered)
    }
    return entered
  }

  /** Runs a handler in this scope: with its environment, inside its middlewares. */
  run(request: IncomingRequest, handler: RequestHandler): HandlerResult {
    return whenReady(this.enter(request), entered => this.runEntered(entered, handler))
  }

  /** Runs a handler inside the middlewares of this scope, for a request that has its environment. */
  runEntered(request: IncomingRequest, handler: RequestHandler): HandlerResult {
    const arounds = this.#arounds.get(request.method)
    return arounds === undefined ? handler(request) : runAround(arounds, 0, request, handler)
  }
}

function runAround(
  arounds: readonly AnyAround[],
  at: number,
  request: IncomingRequest,
  handler: RequestHandler,
): HandlerResult {
  const around = arounds[at]
  if (around === undefined) return handler(request)
  const params = parseRaw(request.params)
  const next = async (
    changed: object = params,
    { signal }: NextOptions = {},
  ): Promise<NamedParams> => {
    const { exchange } = request
    const continued = {
      ...request,
      // The check: the params of a request are an object, by the types of `around`.
      params: changed as NamedParams,
      exchange: signal === undefined ? exchange : abortedBy(exchange, signal),
      acceptsRaw: false,
    }
    return runAround(arounds, at + 1, continued, handler)
  }
  const answer = fromThenable(around(next, params, new RequestView(request)))
  return whenReady(answer, result => answerOf(request.method, result))
}

/** Returns an exchange whose signal is aborted by another signal, too. */
function abortedBy(exchange: Exchange, signal: AbortSignal): Exchange {
  const either = AbortSignal.any([exchange.signal, signal])
  return Object.create(exchange, {
    signal: { value: either },
    onAbort: {
      value: (run: (reason: unknown) => void) => {
        if (either.aborted) run(either.reason)
        else either.addEventListener('abort', () => run(either.reason), { once: true })
      },
    },
  })
}

function answerOf(method: string, result: unknown): NamedParams {
  if (typeof result === 'object' && result !== null && !Array.isArray(result)) {
    // The check: an object that is no array.
    return result as NamedParams
  }
  throw new TypeError(
    `around("${method}"): a middleware must return a result, usually that of next() (got ${typeof result})`,
  )
}
