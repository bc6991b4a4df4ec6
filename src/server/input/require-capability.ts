import type { RpcError } from '../../jsonrpc/error.ts'
import type { Caller } from '../../mcp/caller.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { missingCapability } from '../../mcp/extension.ts'
import type { ClientCapabilities } from '../../mcp/types/base.ts'
import type { SampleParams } from '../../mcp/types/sampling.ts'
import { isRecord } from '../../util/record.ts'

/** The refusal of a question the client cannot be asked. */
function undeclared(caller: Caller, capability: string, required: ClientCapabilities): RpcError {
  if (caller.revision.era === 'session') {
    return errors.capabilityNotSupported(
      { capability },
      { message: `The client has not declared the capability ${capability}` },
    )
  }
  return missingCapability(required)
}

/** Throws unless the client can be asked by a form, or by a URL. */
export function requireElicitation({ revision, capabilities }: Caller, mode: 'form' | 'url'): void {
  const caller = { revision, capabilities }
  const known = revision.features.elicitation
  const offered = capabilities.elicitation
  if (mode === 'url') {
    if (known === 'form and url' && isRecord(offered) && 'url' in offered) return
    throw undeclared(caller, 'elicitation.url', { elicitation: { url: {} } })
  }
  // Without members it means forms, as it did before there was anything else.
  const takesForms = isRecord(offered) && ('form' in offered || !('url' in offered))
  if (known !== 'none' && takesForms) return
  throw undeclared(caller, 'elicitation', { elicitation: { form: {} } })
}

/** Throws unless the client's model can be asked, and with tools where there are any. */
export function requireSampling(caller: Caller, params: SampleParams): void {
  const { sampling } = caller.capabilities
  if (!isRecord(sampling)) throw undeclared(caller, 'sampling', { sampling: {} })
  const needsTools = params.tools !== undefined || params.toolChoice !== undefined
  if (needsTools && !(caller.revision.features.samplingTools && 'tools' in sampling)) {
    throw undeclared(caller, 'sampling.tools', { sampling: { tools: {} } })
  }
}

/** Throws unless the client has roots to tell. */
export function requireRoots(caller: Caller): void {
  if (isRecord(caller.capabilities.roots)) return
  throw undeclared(caller, 'roots', { roots: {} })
}
