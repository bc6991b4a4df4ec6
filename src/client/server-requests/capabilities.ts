import { tasksExtension } from '../../mcp/extension.ts'
import {
  mcpMethods,
  type ServerRequestCapability,
  serverRequestMethods,
  taskCapability,
} from '../../mcp/methods.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { ClientCapabilities, Members } from '../../mcp/types/base.ts'
import type { ClientOptions } from '../options.ts'

/**
 * Returns the capabilities that a client declares in a revision: only those that it has handlers for, in
 * the form of that revision.
 */
export function capabilitiesOf(options: ClientOptions, revision: Revision): ClientCapabilities {
  const { features } = revision
  const { experimental } = options
  const extensions = features.extensions ? extensionsOf(options) : undefined
  const forRequests = serverRequestCapabilities(options, revision)
  return {
    ...forRequests,
    ...(features.tasks === 'core' && options.tasks !== false && tasksOf(forRequests)),
    ...(extensions !== undefined && { extensions }),
    ...(experimental !== undefined && { experimental }),
  }
}

/** Returns the capabilities of the server requests that the client has handlers for. */
function serverRequestCapabilities(
  options: ClientOptions,
  revision: Revision,
): Pick<ClientCapabilities, ServerRequestCapability> {
  return {
    ...(options.roots !== undefined && { roots: rootsOf(revision) }),
    ...(options.sample !== undefined && { sampling: samplingOf(options, revision) }),
    ...elicitationOf(options, revision),
  }
}

/** Returns the elicitation handlers of a client by mode. */
export function elicitorsOf({
  elicit,
}: ClientOptions): Exclude<ClientOptions['elicit'], ((...args: never) => unknown) | undefined> {
  return typeof elicit === 'function' ? { form: elicit } : (elicit ?? {})
}

function rootsOf(revision: Revision): Members {
  return revision.methods.has('notifications/roots/list_changed') ? { listChanged: true } : {}
}

function samplingOf({ sampling }: ClientOptions, { features }: Revision): Members {
  if (!features.samplingTools) return {}
  return { ...(sampling?.tools && { tools: {} }), ...(sampling?.context && { context: {} }) }
}

function elicitationOf(
  options: ClientOptions,
  { features }: Revision,
): Pick<ClientCapabilities, 'elicitation'> {
  const { form, url } = elicitorsOf(options)
  if (features.elicitation === 'form') return form === undefined ? {} : { elicitation: {} }
  if (features.elicitation === 'none' || (form === undefined && url === undefined)) return {}
  return { elicitation: { ...(form && { form: {} }), ...(url && { url: {} }) } }
}

/** Declares a task for each of the declared server requests that may be one. */
function tasksOf(
  declared: Pick<ClientCapabilities, ServerRequestCapability>,
): Pick<ClientCapabilities, 'tasks'> {
  const requests: Record<string, Members> = {}
  for (const method of serverRequestMethods) {
    const path = taskCapability(method)
    if (path === undefined || declared[mcpMethods[method].capability] === undefined) continue
    requests[path.area] = { ...requests[path.area], [path.action]: {} }
  }
  return Object.keys(requests).length === 0 ? {} : { tasks: { list: {}, cancel: {}, requests } }
}

function extensionsOf({
  extensions,
  tasks = true,
}: ClientOptions): ClientCapabilities['extensions'] {
  if (!tasks) return extensions
  return { [tasksExtension]: {}, ...extensions }
}
