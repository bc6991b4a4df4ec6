import { readValue } from '../jsonrpc/codec/raw-json.ts'
import { RpcError } from '../jsonrpc/error.ts'
import { argumentProblem, type MirroredArguments } from '../mcp/param-headers/compare.ts'
import type { ServerRequest } from './request.ts'

/** Refuses a request over HTTP whose headers say something else than its arguments. */
export function checkHeaders(
  mirrored: MirroredArguments,
  { params, caller, exchange, session }: ServerRequest,
): void {
  const { headers } = exchange.envelope
  // Only requests that speak for themselves repeat parts of themselves.
  if (headers === undefined || session !== undefined || caller.revision.era === 'session') return
  const details = argumentProblem(mirrored, readValue(params.arguments), headers)
  if (details === undefined) return
  throw new RpcError(-32020, `Header mismatch: ${details}`, { data: { details } })
}
