import { RawJson, type RawShape, rawShape } from '../../jsonrpc/codec/raw-json.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import {
  capabilityNotDeclared,
  isRequirement,
  requirements,
} from '../../mcp/client-capabilities.ts'
import { missingCapability, requiredIn } from '../../mcp/extension.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import { callResultFor, contentFor, readResultFor } from '../../mcp/revisions/shape.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { Content } from '../../mcp/types/content.ts'
import type { ReadResourceResult } from '../../mcp/types/resources.ts'
import type { CallToolResult } from '../../mcp/types/tools.ts'
import type { IncomingRequest } from '../../server/request.ts'
import { copyWithout, isRecord, ownMember } from '../../util/objects.ts'
import { forwardedMeta } from './params.ts'

/** The member of `_meta` in which a list names the servers that it lacks, with the reasons. */
export const unavailableKey = 'trunkline/unavailable'

/** The results whose members may be forwarded as raw JSON. Results with other members are parsed. */
export const rawResults: RawShape = rawShape({
  resultType: 'scalar',
  content: 'array',
  structuredContent: 'object',
  isError: 'scalar',
  _meta: 'parsed',
})

/** Members of a result that belong to one hop. */
const hopMembers: ReadonlySet<string> = new Set(['resultType', '_meta'])

/** Returns whether a result can be forwarded to the caller as raw JSON, unchanged for its revision. */
export function acceptsRawResult({ method, caller, acceptsRaw }: IncomingRequest): boolean {
  if (acceptsRaw !== true || method !== 'tools/call') return false
  const { structured, audio, resourceLinks } = caller.revision.features
  return audio && resourceLinks && structured !== 'none'
}

/** Returns a result for the caller's revision, without the members that were meant for the router only. */
export function forwardedResult(method: string, result: Members, revision: Revision): Members {
  const meta = forwardedMeta(ownMember(result, '_meta'))
  if (result.content instanceof RawJson && meta === undefined) {
    // A raw result has no other members, and is accepted only where no member has to be converted.
    const { content, structuredContent, isError } = result
    return { content, structuredContent, isError }
  }
  const forwarded = copyWithout(result, hopMembers)
  if (meta !== undefined) forwarded._meta = meta
  switch (method) {
    case 'tools/call':
      // The check: the caller checks each member; here only the kinds of content are looked at.
      return Array.isArray(forwarded.content)
        ? (callResultFor(revision, forwarded as unknown as CallToolResult) as unknown as Members)
        : forwarded
    case 'resources/read':
      return { ...readResultFor(revision, forwarded as unknown as ReadResourceResult) }
    case 'prompts/get':
      return Array.isArray(forwarded.messages) ? promptResultFor(forwarded, revision) : forwarded
    default:
      return forwarded
  }
}

/**
 * Returns an upstream error for the caller. That a capability is missing is an error of its own in
 * some revisions; the server may have used the form of another one.
 */
export function forwardedError({ caller }: IncomingRequest, error: unknown): unknown {
  const missing = missingIn(error)
  if (missing !== undefined && !caller.revision.features.capabilityErrors) {
    return capabilityNotDeclared(missing)
  }
  if (!(error instanceof RpcError) || error.kind !== 'capability_not_supported') return error
  if (!caller.revision.features.capabilityErrors || !isRecord(error.data)) return error
  const capability = String(error.data.capability)
  const required = isRequirement(capability) ? requirements[capability] : undefined
  const [kind = ''] = capability.split('.')
  // A capability that the caller declared is not the missing one.
  if (required === undefined || (capability === kind && Object.hasOwn(caller.capabilities, kind)))
    return error
  return missingCapability(required)
}

/** Returns the capability that a stateless server requires; undefined for any other error. */
function missingIn(error: unknown): string | undefined {
  const required = requiredIn(error)
  const [area] = Object.keys(required ?? {})
  if (required === undefined || area === undefined) return undefined
  const [part] = Object.keys(isRecord(required[area]) ? required[area] : {})
  return isRequirement(`${area}.${part}`) ? `${area}.${part}` : area
}

function promptResultFor(result: Members, revision: Revision): Members {
  if (revision.features.audio && revision.features.resourceLinks) return result
  const messages = (result.messages as readonly unknown[]).map(message =>
    isRecord(message) && isRecord(message.content)
      ? { ...message, content: contentFor(revision, message.content as unknown as Content) }
      : message,
  )
  return { ...result, messages }
}
