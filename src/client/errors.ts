import { ChannelError } from '../jsonrpc/channel.ts'

/** Creates the ChannelError `'framing'` for a response that the protocol does not allow. */
export function invalidResponse(method: string, why: string): ChannelError {
  return new ChannelError('framing', `${method}: ${why}`)
}

/** Creates the ChannelError `'refused'` for a request that the client does not send, or a server request. */
export function refused(method: string, why: string): ChannelError {
  return new ChannelError('refused', `${method}: ${why}`)
}

/** Whether a request was never sent: any request may then be sent again. */
export function isUnsent(error: unknown): error is ChannelError {
  return error instanceof ChannelError && error.code === 'closed'
}

/** Whether the connection was lost while the request was in flight: it may have been executed. */
export function isLost(error: unknown): error is ChannelError {
  return error instanceof ChannelError && error.code === 'outcome-unknown'
}

/** Whether a timeout expired. */
export function isTimeout(error: unknown): error is ChannelError {
  return error instanceof ChannelError && error.code === 'timeout'
}

/** Whether the transport failed, rather than the server sending something unexpected. */
export function isOutage(error: unknown): error is ChannelError {
  return error instanceof ChannelError && error.code !== 'framing'
}
