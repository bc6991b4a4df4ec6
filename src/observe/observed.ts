import type { Exchange, Handler, Middleware } from '../jsonrpc/handler.ts'
import type { RpcRequest } from '../jsonrpc/message.ts'
import type { Attachment, Endpoint } from '../mcp/endpoint.ts'
import { fromThenable } from '../util/promises.ts'
import {
  CallSpan,
  clock,
  hasCallEventSubscribers,
  hasCallSubscribers,
  nameIn,
  outcomeOf,
} from './call.ts'
import { callerOf, type InitializeInfo, initializeInfo } from './caller.ts'
import { callCounters } from './counters.ts'
import { events } from './events.ts'

/** Options of the `observed` middleware. */
export interface ObservedOptions {
  /** The name of the server in events, and in the label `server` of the metrics. */
  readonly server?: string
}

/**
 * Creates a middleware that publishes the events `callStarted` and `callFinished` for every request:
 * `server.use(observed())`. Used first, it also sees requests that other middleware refuses.
 *
 * With no subscribers the overhead is a few branches per call.
 */
export function observed(options: ObservedOptions = {}): Middleware {
  const { server } = options
  return next => {
    /** A middleware is composed once for each connection, so this is about one client. */
    let initialized: InitializeInfo | undefined
    const opening: Handler = (message, exchange) => {
      const result = fromThenable(next(message, exchange))
      const learn = (answer: unknown) => {
        initialized = initializeInfo(message.params, answer)
      }
      if (result instanceof Promise) result.then(learn, () => {})
      else learn(result)
      return result
    }
    /** Creates the span of a request, which started now or at `startedMs`. */
    const spanOf = (message: RpcRequest, exchange: Exchange, startedMs?: number): CallSpan => {
      const { method, id, params } = message
      const name = nameIn(method, params)
      const caller = () => callerOf(params, exchange.envelope.principal?.id, initialized)
      return new CallSpan({ method, name, id, server, caller }, startedMs)
    }
    return (message, exchange) => {
      if (message.type === 'notification') return next(message, exchange)
      const run = message.method === 'initialize' ? opening : next
      if (!hasCallSubscribers()) return run(message, exchange)
      const span = hasCallEventSubscribers() ? spanOf(message, exchange) : undefined
      const startedMs = span?.startedMs ?? clock.now()
      let answer: unknown
      try {
        answer = fromThenable(run(message, exchange))
      } catch (error) {
        const call = span ?? spanOf(message, exchange, startedMs)
        call.fail(error, exchange.signal.aborted)
        throw error
      }
      if (span !== undefined || answer instanceof Promise || outcomeOf(answer) !== 'ok') {
        const call = span ?? spanOf(message, exchange, startedMs)
        return call.follow(answer, exchange)
      }
      const { method, params } = message
      callCounters.completed(server ?? '', method, nameIn(method, params), clock.now() - startedMs)
      return answer
    }
  }
}

/**
 * Wraps an endpoint so that it publishes the events `sessionOpened` and `sessionClosed` for the connections
 * that it accepts: `listen(withSessionEvents(server), …)`.
 */
export function withSessionEvents(endpoint: Endpoint): Endpoint {
  const attachSession = endpoint.attachSession?.bind(endpoint)
  const shareChanges = endpoint.shareChanges?.bind(endpoint)
  return {
    profile: endpoint.profile,
    revisions: endpoint.revisions,
    rawCalls: endpoint.rawCalls,
    traffic: endpoint.traffic,
    handle: endpoint.handle,
    attach: (channel, envelope) => {
      const attachment = endpoint.attach(channel, envelope)
      publishSession(attachment, envelope?.principal?.id)
      return attachment
    },
    ...(shareChanges !== undefined && { shareChanges }),
    ...(attachSession !== undefined && {
      attachSession: (channel, envelope, hooks) => {
        const attachment = attachSession(channel, envelope, hooks)
        publishSession(attachment, envelope.principal?.id)
        return attachment
      },
    }),
  }
}

let lastSession = 0

function publishSession(attachment: Attachment, principal: string | undefined): void {
  const session = ++lastSession
  const startedMs = performance.now()
  if (events.sessionOpened.hasSubscribers) {
    events.sessionOpened.publish({ session, caller: { principal } })
  }
  void attachment.closed.then(cause => {
    if (!events.sessionClosed.hasSubscribers) return
    const durationMs = performance.now() - startedMs
    events.sessionClosed.publish({ session, durationMs, reason: cause?.message })
  })
}
