import { invalidParams, type RpcError } from '../../jsonrpc/error.ts'
import type { Caller } from '../../mcp/caller.ts'
import { errors } from '../../mcp/errors/constructors.ts'

/**
 * The refusal of an answer that is not what was asked for. Where answers come with the request it is
 * the request that is wrong; where they came by a call, it is that call that has failed.
 */
export function badAnswer(
  caller: Caller,
  what: 'elicitation' | 'sampling' | 'roots',
  why: string,
  key?: string,
): RpcError {
  if (caller.revision.era === 'stateless') {
    const where = key === undefined ? 'an input response' : `the input response "${key}"`
    return invalidParams(`Invalid input response: ${why}`, {
      data: { details: `${where} is not what was asked for: ${why}`, key },
    })
  }
  const message = `The client's answer is not what was asked for: ${why}`
  if (what === 'elicitation') return errors.elicitationFailed({ reason: why }, { message })
  if (what === 'sampling') return errors.samplingFailed({ reason: why }, { message })
  return errors.internalError({ reason: why }, { message })
}
