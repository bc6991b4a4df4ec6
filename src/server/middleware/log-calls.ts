import { RpcError } from '../../jsonrpc/error.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import type { Around } from '../core/around.ts'

/** One call of a tool, as `logCalls` reports it when it has ended. */
export interface LoggedCall {
  /** The name of the tool. */
  readonly tool: string
  /** The id of the principal; undefined if there is no authentication. */
  readonly principal: string | undefined
  /** The name that the client gives itself. */
  readonly client: string | undefined
  /** How the call ended: with a result, with a result that is an error, with a protocol error, or at an input request or a task. */
  readonly outcome: 'ok' | 'failed' | 'error' | 'input' | 'task'
  /** How long it took, in milliseconds. */
  readonly ms: number
  /** The code of the protocol error, if any. */
  readonly code?: number
}

/**
 * A middleware that reports every call of a tool when it has ended: `server.around('tools/call',
 * logCalls(call => console.error(call)))`. Arguments and results are not reported, because they may be
 * secret. `trunkline/observe` has structured logs, metrics and traces of all requests.
 */
export function logCalls(
  write: (call: LoggedCall) => void,
  clock: Clock = systemClock,
): Around<'tools/call'> {
  if (typeof write !== 'function')
    throw new TypeError('logCalls needs a function that gets each call')
  return async (next, params, { principal, caller }) => {
    const start = clock.now()
    const report = (outcome: LoggedCall['outcome'], code?: number): void =>
      write({
        tool: params.name,
        principal: principal?.id,
        client: caller.client?.name,
        outcome,
        ms: clock.now() - start,
        ...(code !== undefined && { code }),
      })
    try {
      const result = await next()
      report(outcomeOf(result))
      return result
    } catch (error) {
      report('error', error instanceof RpcError ? error.code : undefined)
      throw error
    }
  }
}

function outcomeOf(result: object): LoggedCall['outcome'] {
  if ('content' in result) return 'isError' in result && result.isError === true ? 'failed' : 'ok'
  return 'inputRequests' in result || 'requestState' in result ? 'input' : 'task'
}
