import type { RpcError } from '../../jsonrpc/error.ts'
import type { Caller } from '../../mcp/caller.ts'
import {
  capabilityNotDeclared,
  type Requirement,
  requirements,
} from '../../mcp/client-capabilities.ts'
import { missingCapability } from '../../mcp/extension.ts'
import type { SampleParams } from '../../mcp/types/sampling.ts'
import { isRecord } from '../../util/objects.ts'

/** The error for a server request that the client has not declared support for. */
function undeclared({ revision }: Pick<Caller, 'revision'>, required: Requirement): RpcError {
  return revision.features.capabilityErrors
    ? missingCapability(requirements[required])
    : capabilityNotDeclared(required)
}

/** Whether the client can ask its user to visit a page. */
export function takesUrls({ revision, capabilities }: Caller): boolean {
  const declared = capabilities.elicitation
  return revision.features.elicitation === 'form and url' && isRecord(declared) && 'url' in declared
}

/** Throws an RpcError unless the client supports elicitation by a form, or by a URL. */
export function requireElicitation(caller: Caller, mode: 'form' | 'url'): void {
  const { revision, capabilities } = caller
  const known = revision.features.elicitation
  const declared = capabilities.elicitation
  if (mode === 'url') {
    if (takesUrls(caller)) return
    throw undeclared({ revision }, 'elicitation.url')
  }
  // Without members it means forms, as it did before there were other modes.
  const takesForms = isRecord(declared) && ('form' in declared || !('url' in declared))
  if (known !== 'none' && takesForms) return
  throw undeclared({ revision }, 'elicitation')
}

/** Throws an RpcError unless the client supports sampling, and tools in it where the params use them. */
export function requireSampling(caller: Caller, params: SampleParams): void {
  const { sampling } = caller.capabilities
  if (!isRecord(sampling)) throw undeclared(caller, 'sampling')
  const needsTools = params.tools !== undefined || params.toolChoice !== undefined
  if (needsTools && !(caller.revision.features.samplingTools && 'tools' in sampling)) {
    throw undeclared(caller, 'sampling.tools')
  }
}

/** Throws an RpcError unless the client supports roots. */
export function requireRoots(caller: Caller): void {
  if (isRecord(caller.capabilities.roots)) return
  throw undeclared(caller, 'roots')
}
