import { ChannelError, type ChannelErrorCode } from '../../jsonrpc/channel.ts'
import { hideValues } from '../../util/text/hidden-values.ts'

/** Returns why an instance was lost, for the operator: everything that is known, but no values of variables. */
export function failureText(cause: Error | undefined): string {
  return cause === undefined ? closed : hideValues(cause.message)
}

/**
 * Returns why an instance was lost, for anyone who reaches the router: without output of the server,
 * addresses and paths.
 */
export function failureSummary(cause: Error | undefined): string {
  if (cause === undefined) return closed
  const chain: ChannelError[] = []
  for (let at: unknown = cause; at instanceof Error && chain.length < 8; at = at.cause) {
    if (at instanceof ChannelError) chain.push(at)
  }
  const [first] = chain
  const said = chain.find(({ summary }) => summary !== undefined)?.summary
  return said ?? (first === undefined ? 'it failed' : summaries[first.code])
}

const closed = 'the connection was closed'

const summaries: Readonly<Record<ChannelErrorCode, string>> = {
  closed,
  'outcome-unknown': closed,
  timeout: 'it does not respond',
  refused: 'it cannot be reached',
  'too-large': 'it sent a message that is too large',
  'too-slow': 'it reads too slowly',
  'too-many': 'it has too many calls in flight',
  framing: 'it sent an invalid message',
  unserialisable: 'it failed',
  'id-overflow': 'it failed',
  'id-collision': 'it failed',
}
