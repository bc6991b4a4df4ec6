import { ChannelError } from '../../jsonrpc/channel.ts'
import { isRecord } from '../../util/objects.ts'
import type { RequestRun } from './request-run.ts'

/**
 * Returns the error of a request that timed out, which names what was called: the tool, the prompt or the resource. The
 * message is that of `error` if `timeoutMs` is not given.
 */
export function timeoutOf(
  { method }: RequestRun,
  params: object | undefined,
  error: ChannelError,
  timeoutMs?: number,
): ChannelError {
  const { message } = error
  const why = message.startsWith(`${method}: `) ? message.slice(method.length + 2) : message
  const reason = timeoutMs === undefined ? why : `no response within ${timeoutMs} ms`
  return new ChannelError('timeout', `${method}${subjectOf(params)}: ${reason}`, { cause: error })
}

/** Returns the name or the URI in the params of a request, quoted; empty if there is none. */
function subjectOf(params: object | undefined): string {
  const { name, uri } = isRecord(params) ? params : {}
  const subject = name ?? uri
  return typeof subject === 'string' ? ` "${subject.slice(0, 200)}"` : ''
}
