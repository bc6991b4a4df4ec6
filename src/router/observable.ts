import { CallSpan, hasCallSubscribers, nameIn } from '../observe/call.ts'
import { events } from '../observe/events.ts'
import type { HandlerResult, IncomingRequest } from '../server/request.ts'
import { errorMessage } from '../util/text/error-message.ts'

/** Handles a request; `span`, if there are subscribers, records where the call goes. */
export type ObservableHandler = (
  request: IncomingRequest,
  span: CallSpan | undefined,
) => HandlerResult

/** Makes the calls of a handler observable. Without subscribers the overhead is a few branches per call. */
export function observable(
  handler: ObservableHandler,
  nameOf: NameOf = subjectOf,
): (request: IncomingRequest) => HandlerResult {
  return request =>
    hasCallSubscribers() ? observed(handler, request, nameOf) : handler(request, undefined)
}

/** Returns the tool, prompt or resource that a request is about. */
type NameOf = (request: IncomingRequest) => string | undefined

const subjectOf: NameOf = ({ method, params }) => nameIn(method, params)

function observed(
  handler: ObservableHandler,
  request: IncomingRequest,
  nameOf: NameOf,
): HandlerResult {
  const { method, id, caller, exchange } = request
  const { client, revision, principal } = caller
  const facts = {
    principal: principal?.id,
    ...(client !== undefined && { client: { name: client.name, version: client.version } }),
    revision: revision.name,
    era: revision.era,
  }
  const span = new CallSpan({ method, name: nameOf(request), id, caller: facts })
  try {
    const result = span.follow(handler(request, span), exchange)
    if (events.callRecorded.hasSubscribers) record(span, request, result)
    return result
  } catch (error) {
    span.fail(error, exchange.signal.aborted)
    throw error
  }
}

/** Publishes the contents of a call when it has ended. */
function record(call: CallSpan, { params }: IncomingRequest, outcome: HandlerResult): void {
  const publish = (end: { readonly result: unknown } | { readonly error: string }): void =>
    events.callRecorded.publish({ call, params, ...end })
  if (!(outcome instanceof Promise)) {
    publish({ result: outcome })
    return
  }
  outcome.then(
    result => publish({ result }),
    (error: unknown) => publish({ error: errorMessage(error) }),
  )
}
