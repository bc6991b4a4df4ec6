import { RpcError } from '../jsonrpc/error.ts'
import type { Caller } from '../mcp/caller.ts'
import { errors } from '../mcp/errors.ts'

/** The refusal of a question the client cannot be asked. */
export function missingCapability(caller: Caller, capability: string, required: object): RpcError {
  if (caller.revision.era === 'session') return errors.capabilityNotSupported({ capability })
  return new RpcError(-32021, 'Missing required client capability', {
    data: { requiredCapabilities: required },
  })
}
