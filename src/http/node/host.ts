import { HeldBytes } from '../../util/sockets/held-bytes.ts'
import { UnreadOutput } from '../../util/sockets/unread.ts'
import type { HttpOutboundOptions } from '../exchange.ts'
import { CrowdedRequests } from './crowded-requests.ts'

/** What the connections of one listener, or of one mounted handler, share. */
export interface NodeHost {
  readonly outbound: HttpOutboundOptions
  /** Counts bodies that are incomplete and responses that are unread. */
  readonly held: HeldBytes
  readonly unread: UnreadOutput
  readonly requests: CrowdedRequests
  /** Whether an address is that of a trusted proxy. */
  readonly isProxy: ((address: string) => boolean) | undefined
}

/** Makes the host of a listener or handler. */
export function nodeHost(
  outbound: HttpOutboundOptions = {},
  { held = new HeldBytes(), isProxy }: Partial<Pick<NodeHost, 'held' | 'isProxy'>> = {},
): NodeHost {
  const unread = new UnreadOutput({ stallMs: outbound.stallMs, held })
  return { outbound, held, unread, requests: new CrowdedRequests(held), isProxy }
}
