import { parseRaw } from '../../jsonrpc/codec/raw-json.ts'
import { compose, type Exchange, type Handler, type Middleware } from '../../jsonrpc/handler.ts'
import type { RpcRequest } from '../../jsonrpc/message.ts'
import { fromThenable } from '../../util/promises.ts'
import type { HandlerResult, IncomingRequest, NamedParams } from '../request.ts'
import type { RequestScope, Scope } from './request-scope.ts'

type RequestHandler = (request: IncomingRequest) => HandlerResult

/** What continues a request behind the middlewares of a mounted server. */
interface Continuation {
  readonly request: IncomingRequest
  readonly handler: RequestHandler
}

const continuation = Symbol('continuation')

/**
 * The scope of a mounted server: its environment, the middlewares of its `around`, and those of its `use`,
 * which see the requests for its features only. Each mount has a scope of its own.
 */
export function mountedScope(scope: RequestScope, middlewares: readonly Middleware[]): Scope {
  let chain: Handler | undefined
  let chained = 0
  return {
    enter: request => scope.enter(request),
    run: (request, handler) => {
      if (chained !== middlewares.length) {
        chained = middlewares.length
        // Once for all requests: middlewares may keep state in their closure.
        chain = compose(continued, middlewares)
      }
      if (chain === undefined) return scope.run(request, handler)
      const { method, params, id, exchange } = request
      const message: RpcRequest = { type: 'request', id: id ?? 0, method, params: parseRaw(params) }
      const rest: Continuation = { request, handler: inner => scope.run(inner, handler) }
      // The check: a middleware returns what `next` did, or a result of its own.
      return fromThenable(chain(message, carrying(exchange, rest))) as HandlerResult
    },
  }
}

/** Returns an exchange that carries how its request continues. */
function carrying(exchange: Exchange, value: Continuation): Exchange {
  return Object.create(exchange, { [continuation]: { value } }) as Exchange
}

/** The handler behind the middlewares: continues the request that the exchange carries. */
const continued: Handler = (message, exchange) => {
  const carried = (exchange as { readonly [continuation]?: Continuation })[continuation]
  if (carried === undefined) {
    throw new TypeError('a middleware of a mounted server must pass on the exchange that it got')
  }
  const { request, handler } = carried
  // The check: the params of requests for features are objects.
  return handler({ ...request, params: (message.params ?? {}) as NamedParams, acceptsRaw: false })
}
