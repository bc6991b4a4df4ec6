import { callsAreHeard, LiveCall, nameIn } from '../../observe/call.ts'
import type { Answer, ServerRequest } from '../../server/request.ts'

/** Answers a request, and writes to the call, where somebody listens, what is learned of it. */
export type HeardAnswer = (request: ServerRequest, live: LiveCall | undefined) => Answer

/** The same, telling whoever listens to the calls of this process. Costs nothing where nobody does. */
export function heard(answer: HeardAnswer): (request: ServerRequest) => Answer {
  return request => {
    if (!callsAreHeard()) return answer(request, undefined)
    const { method, params, id, caller, exchange } = request
    const { client, revision, principal } = caller
    const facts = {
      principal: principal?.id,
      ...(client !== undefined && { client: { name: client.name, version: client.version } }),
      revision: revision.name,
      era: revision.era,
    }
    const live = new LiveCall({ method, name: nameIn(method, params), id, caller: facts })
    try {
      return live.follow(answer(request, live), exchange)
    } catch (error) {
      live.fail(error, exchange.signal.aborted)
      throw error
    }
  }
}
