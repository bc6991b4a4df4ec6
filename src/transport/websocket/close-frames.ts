import { ChannelError } from '../../jsonrpc/channel.ts'

/**
 * The reason of a close frame from a peer that has answered every request it began. Requests that arrive
 * after that are not read.
 */
export const drained = 'every request that was begun has been answered'

/** Returns the cause for a close code; undefined for a clean close. */
export function causeOf(code: number, reason: string): ChannelError | undefined {
  const suffix = reason === '' ? '' : `: ${reason}`
  switch (code) {
    case 1000:
    case 1001:
    case 1005:
      return undefined
    case 1006:
      return new ChannelError('closed', 'the connection was lost')
    case 1009:
      return new ChannelError('too-large', `the peer rejected a message as too large${suffix}`)
    default:
      return new ChannelError('closed', `the peer closed with code ${code}${suffix}`)
  }
}
