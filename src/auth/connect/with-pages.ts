import { grantPagesOf } from './grant-pages.ts'
import { refusalPage } from './html.ts'
import type { PageRequest } from './page-request.ts'
import type { ConnectPages } from './pages-options.ts'

/** What the pages need of an HTTP response. */
interface PageReply {
  readonly isFinished: boolean
  send(status: number, headers: Readonly<Record<string, string>>, body?: string): void
}

/** Handles HTTP requests. */
interface Handler<Request, Reply> {
  handle(request: Request, reply: Reply): void
  retire?(): void
  drain(options?: { readonly drainMs?: number }): Promise<void>
  close(options?: { readonly drainMs?: number }): Promise<void>
}

/**
 * Tells the pages the address of their listener, and by which verifiers it authenticates callers. Throws a TypeError if
 * the pages could not know whose browser visits them.
 */
export function bindPages(
  pages: ConnectPages,
  address: string,
  verifiers: readonly string[],
): void {
  grantPagesOf(pages).bind(address, verifiers)
}

/** Combines two handlers: requests for the pages go to the pages, all others to `main`. */
export function withPages<Request extends PageRequest, Reply extends PageReply>(
  main: Handler<Request, Reply>,
  connectPages: ConnectPages,
): Handler<Request, Reply> {
  const pages = grantPagesOf(connectPages)
  const inFlight = new Set<Promise<void>>()
  const answer = async (request: Request, reply: Reply): Promise<void> => {
    const response = await pages.respond(request).catch(() => refusalPage(500, 'Internal error.'))
    const { status, headers, body } = response
    if (!reply.isFinished) reply.send(status, headers, body)
  }
  return {
    handle: (request, reply) => {
      if (!pages.handles(request)) {
        main.handle(request, reply)
        return
      }
      const answering = answer(request, reply).finally(() => inFlight.delete(answering))
      inFlight.add(answering)
    },
    retire: () => main.retire?.(),
    drain: async options => {
      await Promise.all([main.drain(options), ...inFlight])
    },
    close: options => main.close(options),
  }
}
