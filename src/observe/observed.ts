import type { Exchange, Handler, Middleware } from '../jsonrpc/handler.ts'
import type { RpcRequest } from '../jsonrpc/message.ts'
import type { Attachment, Endpoint } from '../mcp/endpoint.ts'
import { promised } from '../util/promised.ts'
import { callsAreHeard, clock, everyCallIsHeard, LiveCall, nameIn, outcomeOf } from './call.ts'
import { callerOf, type Introduction, introductionOf } from './caller.ts'
import { allTallies } from './counters.ts'
import { events } from './events.ts'

/** What the events of a server say besides what they are about. */
export interface ObservedOptions {
  /** What the server is called in them: the label `server` of the metrics. */
  readonly server?: string
}

/**
 * A middleware that tells of every request, with the events `callBegun` and `callEnded`:
 * `server.use(observed())`. Used first, it sees what the other middlewares refuse.
 *
 * While nobody listens it costs a few looks at who might.
 */
export function observed(options: ObservedOptions = {}): Middleware {
  const { server } = options
  return next => {
    /** A middleware is put together once for each connection, so this is about one client. */
    let introduction: Introduction | undefined
    const opening: Handler = (message, exchange) => {
      const result = promised(next(message, exchange))
      const learn = (answer: unknown) => {
        introduction = introductionOf(message.params, answer)
      }
      if (result instanceof Promise) result.then(learn, () => {})
      else learn(result)
      return result
    }
    /** The call that a message is, from when it came or from now on. */
    const callOf = (message: RpcRequest, exchange: Exchange, beganMs?: number): LiveCall => {
      const { method, id, params } = message
      const name = nameIn(method, params)
      const caller = () => callerOf(params, exchange.envelope.principal?.id, introduction)
      return new LiveCall({ method, name, id, server, caller }, beganMs)
    }
    return (message, exchange) => {
      if (message.type === 'notification') return next(message, exchange)
      const run = message.method === 'initialize' ? opening : next
      if (!callsAreHeard()) return run(message, exchange)
      const told = everyCallIsHeard() ? callOf(message, exchange) : undefined
      const beganMs = told?.beganMs ?? clock.now()
      let answer: unknown
      try {
        answer = promised(run(message, exchange))
      } catch (error) {
        const call = told ?? callOf(message, exchange, beganMs)
        call.fail(error, exchange.signal.aborted)
        throw error
      }
      if (told !== undefined || answer instanceof Promise || outcomeOf(answer) !== 'ok') {
        const call = told ?? callOf(message, exchange, beganMs)
        return call.follow(answer, exchange)
      }
      const { method, params } = message
      allTallies.done(server ?? '', method, nameIn(method, params), clock.now() - beganMs)
      return answer
    }
  }
}

/**
 * The same endpoint, which tells of the connections it takes over, with the events `sessionOpened` and
 * `sessionClosed`: `listen(sessionsOf(server), …)`.
 */
export function sessionsOf(endpoint: Endpoint): Endpoint {
  return {
    profile: endpoint.profile,
    revisions: endpoint.revisions,
    writtenCalls: endpoint.writtenCalls,
    traffic: endpoint.traffic,
    handle: endpoint.handle,
    attach: (channel, envelope) => {
      const attachment = endpoint.attach(channel, envelope)
      tellOf(attachment, envelope?.principal?.id)
      return attachment
    },
  }
}

let lastSession = 0

function tellOf(attachment: Attachment, principal: string | undefined): void {
  const session = ++lastSession
  const beganMs = performance.now()
  if (events.sessionOpened.isHeard) {
    events.sessionOpened.publish({ session, caller: { principal } })
  }
  void attachment.closed.then(cause => {
    if (!events.sessionClosed.isHeard) return
    const durationMs = performance.now() - beganMs
    events.sessionClosed.publish({ session, durationMs, reason: cause?.message })
  })
}
