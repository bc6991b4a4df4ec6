import type { Calls } from '../../jsonrpc/handler.ts'
import type { Caller } from '../../mcp/caller.ts'
import { readServerName, serverKey } from '../../mcp/meta.ts'
import { isServerRequest, type ServerRequestMethod } from '../../mcp/methods.ts'
import type { Schema } from '../../mcp/schema/standard-schema.ts'
import type { InputRequest } from '../../mcp/types/input.ts'
import type { Root } from '../../mcp/types/roots.ts'
import { limits } from '../../util/limits/limits.ts'
import { prepareForm, prepareUrl } from './elicit.ts'
import { rootsResponse } from './input-responses.ts'
import { requireRoots } from './require-capability.ts'
import { sampleParams, sampleResponse } from './sample.ts'

/** A server request that a handler has put together itself, ready to be sent. */
export interface PreparedRequest {
  /** Encoded for the caller's revision. */
  readonly request: InputRequest
  /** Checks and returns the response. Throws or rejects with an RpcError for one that does not fit. */
  accept(response: unknown, key: string): unknown
}

/**
 * Prepares a server request for a caller. Throws where the client does not support it. Of `_meta` only the
 * name of the server is kept, which a router adds.
 */
export function prepareInputRequest(caller: Caller, request: InputRequest): PreparedRequest {
  const { method } = request
  if (typeof method !== 'string' || !isServerRequest(method)) {
    throw new TypeError(`"${String(method)}" is not a request that a client can answer`)
  }
  // The check: each row takes the requests of its own method.
  const prepared = (preparations[method] as Prepare<ServerRequestMethod>)(caller, request)
  const server = readServerName(request.params)
  const isInResult = caller.revision.features.serverRequests === 'retry'
  // There the params of sampling have no `_meta`; the router names the server in that of the result.
  if (server === undefined || (isInResult && method === 'sampling/createMessage')) return prepared
  return { ...prepared, request: fromServer(prepared.request, server) }
}

/** Returns a server request that names the server it comes from. */
export function fromServer<R extends Pick<InputRequest, 'params'>>(request: R, server: string): R {
  return { ...request, params: { ...request.params, _meta: { [serverKey]: server } } }
}

/** Requests the roots of a client in a session, outside of any request. Rejects where it has none. */
export async function requestRoots(caller: Caller, calls: Calls): Promise<readonly Root[]> {
  requireRoots(caller)
  const timeoutMs = limits.serverRequestMs.default
  return rootsResponse(caller, await calls.call('roots/list', undefined, { timeoutMs }))
}

type Prepare<M extends ServerRequestMethod> = (
  caller: Caller,
  request: Extract<InputRequest, { readonly method: M }>,
) => PreparedRequest

const preparations: { readonly [M in ServerRequestMethod]: Prepare<M> } = {
  'elicitation/create': (caller, { method, params }) => {
    const { params: encoded, accept } =
      params.mode === 'url'
        ? prepareUrl(caller, params)
        : // The check: a form is a JSON Schema, and `prepareForm` rejects what no form can represent.
          prepareForm(caller, params.message, params.requestedSchema as unknown as Schema)
    return { request: { method, params: encoded }, accept }
  },
  'sampling/createMessage': (caller, { method, params }) => ({
    request: { method, params: sampleParams(caller, params) },
    accept: (response, key) => sampleResponse(caller, response, key),
  }),
  'roots/list': (caller, { method, params }) => {
    requireRoots(caller)
    return {
      request: { method, params },
      accept: (response, key) => ({ roots: rootsResponse(caller, response, key) }),
    }
  },
}
