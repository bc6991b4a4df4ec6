import { ChannelError } from '../jsonrpc/channel.ts'

/** A reply that the protocol does not allow. */
export function unreadable(method: string, why: string): ChannelError {
  return new ChannelError('framing', `${method}: ${why}`)
}

/** Refuses on this side what would be of no use on the other. */
export function refused(method: string, why: string): ChannelError {
  return new ChannelError('refused', `${method}: ${why}`)
}

/** Whether a request was never sent: it may be sent again, whatever it does. */
export function isUnsent(error: unknown): error is ChannelError {
  return error instanceof ChannelError && error.code === 'closed'
}

/** Whether the connection was lost while a request was under way, which may have been carried out. */
export function isLost(error: unknown): error is ChannelError {
  return error instanceof ChannelError && error.code === 'outcome-unknown'
}

/** Whether something took longer than somebody was willing to wait. */
export function isTimeout(error: unknown): error is ChannelError {
  return error instanceof ChannelError && error.code === 'timeout'
}

/** Whether the way to the server failed, rather than the server saying something unexpected. */
export function isOutage(error: unknown): error is ChannelError {
  return error instanceof ChannelError && error.code !== 'framing'
}
