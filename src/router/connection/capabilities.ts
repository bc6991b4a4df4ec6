import type { Caller } from '../../mcp/caller.ts'
import { allServerRequests, serverRequestsIn } from '../../mcp/client-capabilities.ts'
import { tasksExtension } from '../../mcp/extension.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { ClientCapabilities } from '../../mcp/types/base.ts'
import { isRecord } from '../../util/objects.ts'

/**
 * Returns the capabilities of a caller in the terms of an upstream server's revision: the server requests
 * that the caller takes and that the revision has. Tasks are left out: the router runs those itself.
 */
export function capabilitiesFor({ capabilities }: Caller, revision: Revision): ClientCapabilities {
  const { roots, extensions } = capabilities
  const others = revision.features.extensions && isRecord(extensions) ? { ...extensions } : {}
  delete others[tasksExtension]
  return {
    ...serverRequestsIn(revision, capabilities),
    // Changes of roots are not forwarded.
    ...(isRecord(roots) && { roots: {} }),
    ...(Object.keys(others).length > 0 && { extensions: others }),
  }
}

/** Returns every capability that can be forwarded to callers: for connections that all callers share. */
export function allCapabilities(revision: Revision): ClientCapabilities {
  return capabilitiesFor({ revision, capabilities: allServerRequests }, revision)
}
