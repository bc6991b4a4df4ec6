import type { Caller } from '../../mcp/caller.ts'
import { tasksExtension } from '../../mcp/extension.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { ClientCapabilities } from '../../mcp/types/base.ts'
import { isRecord } from '../../util/record.ts'

/**
 * What a caller has declared, in the words of the revision that a server behind the router speaks:
 * exactly what the caller can be asked and the revision can ask. Tasks are not among it: the router
 * runs those itself.
 */
export function capabilitiesFor({ capabilities }: Caller, revision: Revision): ClientCapabilities {
  const { roots, sampling, extensions } = capabilities
  const isSession = revision.era === 'session'
  const others = isSession || !isRecord(extensions) ? {} : { ...extensions }
  delete others[tasksExtension]
  return {
    ...(isRecord(roots) && { roots: {} }),
    ...(isRecord(sampling) && { sampling: revision.features.samplingTools ? sampling : {} }),
    ...elicitationFor(capabilities, revision),
    ...(Object.keys(others).length > 0 && { extensions: others }),
  }
}

/** Everything that can be passed on to callers: for connections that all of them share. */
export function allCapabilities(revision: Revision): ClientCapabilities {
  const everything: ClientCapabilities = {
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
  // Without members it means forms, as it did before there was anything else.
  const form = 'form' in elicitation || !('url' in elicitation)
  if (features.elicitation === 'form') return form ? { elicitation: {} } : {}
  return {
    elicitation: { ...(form && { form: {} }), ...('url' in elicitation && { url: {} }) },
  }
}
