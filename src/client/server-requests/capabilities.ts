import { tasksExtension } from '../../mcp/extension.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { ClientCapabilities, Members } from '../../mcp/types/base.ts'
import type { ClientOptions } from '../options.ts'

/**
 * What a client declares in a revision: only what it has handlers for, in the words that revision
 * knows. An empty object means that it can answer nothing.
 */
export function capabilitiesOf(options: ClientOptions, revision: Revision): ClientCapabilities {
  const { era, features } = revision
  const { experimental } = options
  const extensions = era === 'stateless' ? extensionsOf(options) : undefined
  return {
    ...(options.roots !== undefined && { roots: era === 'session' ? { listChanged: true } : {} }),
    ...(options.sample !== undefined && { sampling: samplingOf(options, revision) }),
    ...elicitationOf(options, revision),
    ...(features.tasks === 'core' && tasksOf(options)),
    ...(extensions !== undefined && { extensions }),
    ...(experimental !== undefined && { experimental }),
  }
}

/** The handlers of a client's questions to the user, each under the mode it is for. */
export function elicitorsOf({
  elicit,
}: ClientOptions): Exclude<ClientOptions['elicit'], ((...args: never) => unknown) | undefined> {
  return typeof elicit === 'function' ? { form: elicit } : (elicit ?? {})
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

function tasksOf(options: ClientOptions): Pick<ClientCapabilities, 'tasks'> {
  const { form, url } = elicitorsOf(options)
  const asks = form !== undefined || url !== undefined
  if (options.tasks === false || (options.sample === undefined && !asks)) return {}
  const requests = {
    ...(options.sample !== undefined && { sampling: { createMessage: {} } }),
    ...(asks && { elicitation: { create: {} } }),
  }
  return { tasks: { list: {}, cancel: {}, requests } }
}

function extensionsOf({
  extensions,
  tasks = true,
}: ClientOptions): ClientCapabilities['extensions'] {
  if (!tasks) return extensions
  return { [tasksExtension]: {}, ...extensions }
}
