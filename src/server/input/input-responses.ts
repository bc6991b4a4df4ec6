import { invalidParams, type RpcError } from '../../jsonrpc/error.ts'
import type { Caller } from '../../mcp/caller.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { ServerRequestCapability } from '../../mcp/methods.ts'
import type { Root } from '../../mcp/types/roots.ts'
import { isRecord } from '../../util/objects.ts'

/**
 * The error for a client's response that does not fit the server request. Responses
 * that come with a retried request make that request invalid. A response to a call of the server makes
 * that call fail.
 */
export function invalidInputResponse(
  caller: Caller,
  what: ServerRequestCapability,
  why: string,
  key?: string,
): RpcError {
  if (caller.revision.features.serverRequests === 'retry') {
    const where = key === undefined ? 'an input response' : `the input response "${key}"`
    return invalidParams(`Invalid input response: ${why}`, {
      data: { details: `${where} is not what was asked for: ${why}`, key },
    })
  }
  const message = `The client's response is not what was asked for: ${why}`
  if (what === 'elicitation') return errors.elicitationFailed({ reason: why }, { message })
  if (what === 'sampling') return errors.samplingFailed({ reason: why }, { message })
  return errors.internalError({ reason: why }, { message })
}

/** Returns the roots in a client's response. Throws an RpcError for a response of another shape. */
export function rootsResponse(caller: Caller, response: unknown, key?: string): readonly Root[] {
  const problem = rootsProblem(response)
  if (problem !== undefined) throw invalidInputResponse(caller, 'roots', problem, key)
  // The check: a list of objects with a uri each.
  return (response as { readonly roots: readonly Root[] }).roots
}

/** Says what is wrong with the shape of a list of roots; undefined if nothing is. */
function rootsProblem(response: unknown): string | undefined {
  if (!isRecord(response) || !Array.isArray(response.roots)) return 'it has no list of roots'
  const isRoot = (root: unknown) => isRecord(root) && typeof root.uri === 'string'
  return response.roots.every(isRoot) ? undefined : 'a root has no uri'
}
