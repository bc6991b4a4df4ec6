import type { Exchange, Handler, Middleware } from '../jsonrpc/handler.ts'
import type { RpcRequest } from '../jsonrpc/message.ts'
import type { Attachment, Endpoint } from '../mcp/endpoint.ts'
import { promised } from '../util/promised.ts'
import { callsAreHeard, LiveCall } from './call.ts'
import { type Introduction, introductionOf } from './caller.ts'
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
 * While nobody listens it costs a look at two channels.
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
    return (message, exchange) => {
      if (message.type === 'notification') return next(message, exchange)
      const run = message.method === 'initialize' ? opening : next
      if (!callsAreHeard()) return run(message, exchange)
      const principal = exchange.envelope.principal?.id
      const call = new LiveCall(message, message.params, principal, introduction, server)
      return followed(call, run, message, exchange)
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

function followed(call: LiveCall, run: Handler, message: RpcRequest, exchange: Exchange): unknown {
  try {
    return call.follow(promised(run(message, exchange)), exchange)
  } catch (error) {
    call.fail(error, exchange.signal.aborted)
    throw error
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
