import type { Caller } from '../../mcp/caller.ts'
import { tasksExtension } from '../../mcp/extension.ts'
import type { ServerRequestCapability } from '../../mcp/methods.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { ClientCapabilities } from '../../mcp/types/base.ts'
import { isRecord } from '../../util/objects.ts'

/**
 * Returns the capabilities of a caller in the terms of an upstream server's revision: the server requests
 * that the caller takes and that the revision has. Tasks are left out: the router runs those itself.
 */
export function capabilitiesFor({ capabilities }: Caller, revision: Revision): ClientCapabilities {
  const { roots, sampling, extensions } = capabilities
  const others = revision.features.extensions && isRecord(extensions) ? { ...extensions } : {}
  delete others[tasksExtension]
  return {
    ...(isRecord(roots) && { roots: {} }),
    ...(isRecord(sampling) && { sampling: revision.features.samplingTools ? sampling : {} }),
    ...elicitationFor(capabilities, revision),
    ...(Object.keys(others).length > 0 && { extensions: others }),
  }
}

/** Returns every capability that can be forwarded to callers: for connections that all callers share. */
export function allCapabilities(revision: Revision): ClientCapabilities {
  // Required, so that a new server request is an error here until `capabilitiesFor` converts it.
  const everything: Required<Pick<ClientCapabilities, ServerRequestCapability>> = {
    roots: {},
    sampling: { tools: {}, context: {} },
    elicitation: { form: {}, url: {} },
  }
  return capabilitiesFor({ revision, capabilities: everything }, revision)
}

function elicitationFor(
  { elicitation }: ClientCapabilities,
  { features }: Revision,
): Pick<ClientCapabilities, 'elicitation'> {
  if (!isRecord(elicitation) || features.elicitation === 'none') return {}
  // An empty object means forms, as in the revision that had nothing else.
  const form = 'form' in elicitation || !('url' in elicitation)
  if (features.elicitation === 'form') return form ? { elicitation: {} } : {}
  return {
    elicitation: { ...(form && { form: {} }), ...('url' in elicitation && { url: {} }) },
  }
}
