import { ChannelError } from './channel.ts'
import type { ErrorObject, Id, RpcNotification } from './message.ts'

/** How the two sides tell each other that a request is given up. */
export interface Cancellation {
  /** The notification, such as `$/cancelRequest`. */
  readonly method: string
  /** The member of its params that holds the id of the request. */
  readonly member: string
  /** The member that says why, in words, where the protocol has one. */
  readonly reason?: string
  /** The method whose requests cannot be given up. */
  readonly except?: string
  /** What a cancelled request is answered with; without it, it is not answered. */
  readonly answer?: ErrorObject
}

/** The params that tell of a request given up for `why`. */
export function cancelParams({ member, reason }: Cancellation, id: Id, why: unknown): object {
  const words = reason === undefined ? undefined : cancelWords(why)
  return { [member]: id, ...(reason !== undefined && words !== undefined && { [reason]: words }) }
}

/**
 * What the other side is told of why a request was given up: words that the caller chose for it, or
 * that the time was up. What an error says is not meant for others.
 */
export function cancelWords(why: unknown): string | undefined {
  if (typeof why === 'string') return why
  return why instanceof ChannelError && why.code === 'timeout' ? 'timeout' : undefined
}

/** Which request a notification gives up; undefined when it does not say so as it should. */
export function cancelledIn(
  { member, reason }: Cancellation,
  { params }: RpcNotification,
): { readonly id: Id; readonly why: ChannelError } | undefined {
  // Own members only: the names are the protocol's, the object the other side's.
  const members = new Map(Object.entries(params ?? {}))
  const id = members.get(member)
  if (typeof id !== 'string' && typeof id !== 'number' && typeof id !== 'bigint') return undefined
  return { id, why: cancelled(reason === undefined ? undefined : members.get(reason)) }
}

/** What the signal of a request says that was cancelled, with the other side's words if it has any. */
export function cancelled(words?: unknown): ChannelError {
  const what = typeof words === 'string' && words !== '' ? `cancelled: ${words}` : 'cancelled'
  return new ChannelError('closed', what)
}
