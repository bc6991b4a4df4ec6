import { methodRow } from '../../mcp/methods.ts'
import type { AnswerOf, ClientMethod, ParamsOf } from '../../mcp/types/requests.ts'
import type { RequestContext } from '../request-context.ts'

/** How a middleware continues a request. */
export interface NextOptions {
  /** Aborts the handler, besides the signal of the request. */
  readonly signal?: AbortSignal
}

/**
 * Continues a request: with its own params, or with others. Resolves to the answer of the handler behind
 * the middleware; rejects with what that threw.
 */
export type Next<M extends ClientMethod> = (
  params?: ParamsOf<M>,
  options?: NextOptions,
) => Promise<AnswerOf<M>>

/**
 * A middleware for the requests of one method. It answers with what it returns: usually the answer of
 * `next()`, possibly changed. It runs once per request, so its local variables belong to that request.
 */
export type Around<M extends ClientMethod, Env = unknown> = (
  next: Next<M>,
  params: ParamsOf<M>,
  context: RequestContext<Env>,
) => AnswerOf<M> | Promise<AnswerOf<M>>

/** A middleware of any method, after its types were checked where it was added. */
export type AnyAround = (
  next: (params?: object, options?: NextOptions) => Promise<unknown>,
  params: object,
  context: RequestContext<unknown>,
) => unknown

/** Throws a TypeError for a method that clients do not send, and for a middleware that is not a function. */
export function checkAround(method: string, around: unknown): void {
  const row = methodRow(method)
  if (row === undefined || row.kind !== 'request' || row.from === 'server') {
    throw new TypeError(`around(): "${method}" is not a request of a client, such as "tools/call"`)
  }
  if (method === 'initialize') {
    throw new TypeError('around(): "initialize" has no caller yet; use server.use()')
  }
  if (typeof around !== 'function') {
    throw new TypeError(`around("${method}"): the middleware must be a function`)
  }
}
