import { type ConnectPages, servedPages } from '../../mcp/callers/connect-pages.ts'
import { limits } from '../../util/limits/limits.ts'
import type { HttpHandler, HttpReply, HttpRequest } from '../exchange.ts'
import { InFlight } from './in-flight.ts'
import { overloaded } from './responses.ts'

/** Combines two handlers: requests for the pages go to the pages, all others to `main`. */
export function withPages(main: HttpHandler, connectPages: ConnectPages): HttpHandler {
  const pages = servedPages(connectPages)
  const inFlight = new InFlight(limits.httpInFlight.default)
  const serve = async (request: HttpRequest, reply: HttpReply): Promise<void> => {
    // A browser that disconnects while it sends a form is never answered.
    const disconnected = new Promise<undefined>(resolve => {
      reply.onDisconnect(() => resolve(undefined))
    })
    inFlight.enter()
    const response = await Promise.race([pages.respond(request), disconnected])
    inFlight.leave()
    if (response === undefined || reply.isFinished) return
    reply.send(response.status, response.headers, response.body)
  }
  const drained = async (options: { readonly drainMs?: number } = {}): Promise<void> => {
    await inFlight.drained(options.drainMs ?? limits.drainMs.default)
  }
  return {
    handle: (request, reply) => {
      if (!pages.handles(request)) main.handle(request, reply)
      else if (inFlight.isFull()) reply.send(503, overloaded)
      else void serve(request, reply)
    },
    retire: () => main.retire?.(),
    drain: async options => {
      await Promise.all([main.drain(options), drained(options)])
    },
    close: async options => {
      await Promise.all([main.close(options), drained(options)])
    },
  }
}
