import { type ServerRequestCapabilities, serverRequestsIn } from '../../mcp/client-capabilities.ts'
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
  const forRequests = serverRequestsIn(revision, handledRequests(options))
  return {
    ...forRequests,
    ...(features.tasks === 'core' && options.tasks !== false && tasksOf(forRequests)),
    ...(extensions !== undefined && { extensions }),
    ...(experimental !== undefined && { experimental }),
  }
}

/** Returns the capabilities of the server requests that the client has handlers for, in every form. */
function handledRequests(options: ClientOptions): {
  readonly [C in ServerRequestCapability]: ClientCapabilities[C]
} {
  const { roots, sample, sampling } = options
  const { form, url } = elicitorsOf(options)
  return {
    roots: roots && { listChanged: true },
    sampling: sample && {
      ...(sampling?.tools && { tools: {} }),
      ...(sampling?.context && { context: {} }),
    },
    elicitation: (form ?? url) && { ...(form && { form: {} }), ...(url && { url: {} }) },
  }
}

/** Returns the elicitation handlers of a client by mode. */
export function elicitorsOf({
  elicit,
}: ClientOptions): Exclude<ClientOptions['elicit'], ((...args: never) => unknown) | undefined> {
  return typeof elicit === 'function' ? { form: elicit } : (elicit ?? {})
}

/** Declares a task for each of the declared server requests that may be one. */
function tasksOf(declared: ServerRequestCapabilities): Pick<ClientCapabilities, 'tasks'> {
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
