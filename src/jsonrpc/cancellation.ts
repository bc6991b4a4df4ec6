import { ChannelError } from './channel.ts'
import type { ErrorObject, Id, RpcNotification } from './message.ts'

/** How a peer cancels a request: the notification and its members. */
export interface Cancellation {
  /** The method of the notification, such as `$/cancelRequest`. */
  readonly method: string
  /** The member of the notification's params that holds the id of the request. */
  readonly member: string
  /** The member that holds the reason as text, if the protocol has one. */
  readonly reason?: string
  /** The method whose requests cannot be cancelled. */
  readonly except?: string
  /**
   * The error that a cancelled request is answered with; without it, a cancelled request gets no
   * response.
   */
  readonly answer?: ErrorObject
}

/**
 * Returns the params of the notification that cancels a request, with `why` as far as it can be sent.
 */
export function cancelParams({ member, reason }: Cancellation, id: Id, why: unknown): object {
  const text = reason === undefined ? undefined : cancelReason(why)
  return { [member]: id, ...(reason !== undefined && text !== undefined && { [reason]: text }) }
}

/**
 * Returns the reason of a cancellation as it may be sent to the peer: a string that the caller chose,
 * or `timeout`. The message of any other error is internal and is not sent.
 */
export function cancelReason(why: unknown): string | undefined {
  if (typeof why === 'string') return why
  return why instanceof ChannelError && why.code === 'timeout' ? 'timeout' : undefined
}

/** Returns the request that a notification cancels; undefined if the notification is malformed. */
export function cancelledIn(
  { member, reason }: Cancellation,
  { params }: RpcNotification,
): { readonly id: Id; readonly why: ChannelError } | undefined {
  // Own members only: the protocol chose the names, but the peer made the object.
  const members = new Map(Object.entries(params ?? {}))
  const id = members.get(member)
  if (typeof id !== 'string' && typeof id !== 'number' && typeof id !== 'bigint') return undefined
  return { id, why: cancelled(reason === undefined ? undefined : members.get(reason)) }
}

/** Makes the abort reason of a cancelled request, with the peer's reason if it gave one. */
export function cancelled(reason?: unknown): ChannelError {
  const hasReason = typeof reason === 'string' && reason !== ''
  return new ChannelError('closed', hasReason ? `cancelled: ${reason}` : 'cancelled')
}
