import { HeldBytes } from '../../util/sockets/held-bytes.ts'
import { UnreadOutput } from '../../util/sockets/unread.ts'
import type { HttpHandler, HttpOutboundOptions, HttpReply, HttpRequest } from '../exchange.ts'

/** What the connections of one listener, or of one mounted handler, share. */
export interface NodeHost {
  readonly outbound: HttpOutboundOptions
  /** Counts bodies that are incomplete and responses that are unread. */
  readonly held: HeldBytes
  readonly unread: UnreadOutput
  /** Whether an address is that of a trusted proxy. */
  readonly isProxy: ((address: string) => boolean) | undefined
}

/** Makes the host of a listener or handler. */
export function nodeHost(
  outbound: HttpOutboundOptions = {},
  { held = new HeldBytes(), isProxy }: Partial<Pick<NodeHost, 'held' | 'isProxy'>> = {},
): NodeHost {
  const unread = new UnreadOutput({ stallMs: outbound.stallMs, held })
  return { outbound, held, unread, isProxy }
}

/** Handles a request, later if the listener has much to do and the client is still connected then. */
export function handleInTurn(
  service: Pick<HttpHandler, 'handle'>,
  request: HttpRequest,
  reply: HttpReply,
  { held: { turns } }: NodeHost,
): void {
  if (turns.isOpen) {
    turns.spend(0)
    service.handle(request, reply)
    return
  }
  turns.defer(0, () => {
    if (!reply.isFinished) service.handle(request, reply)
  })
}
