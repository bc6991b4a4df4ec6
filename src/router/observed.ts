import { CallSpan, hasCallSubscribers, nameIn } from '../observe/call.ts'
import type { HandlerResult, IncomingRequest } from '../server/request.ts'

/** Handles a request; `span`, if there are subscribers, records where the call goes. */
export type ObservedHandler = (
  request: IncomingRequest,
  span: CallSpan | undefined,
) => HandlerResult

/** Makes the calls of a handler observable. Without subscribers the overhead is a few branches per call. */
export function observable(handler: ObservedHandler): (request: IncomingRequest) => HandlerResult {
  return request =>
    hasCallSubscribers() ? observed(handler, request) : handler(request, undefined)
}

function observed(handler: ObservedHandler, request: IncomingRequest): HandlerResult {
  const { method, params, id, caller, exchange } = request
  const { client, revision, principal } = caller
  const info = {
    principal: principal?.id,
    ...(client !== undefined && { client: { name: client.name, version: client.version } }),
    revision: revision.name,
    era: revision.era,
  }
  const span = new CallSpan({ method, name: nameIn(method, params), id, caller: info })
  try {
    return span.follow(handler(request, span), exchange)
  } catch (error) {
    span.fail(error, exchange.signal.aborted)
    throw error
  }
}
