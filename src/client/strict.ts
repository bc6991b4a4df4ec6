import { tasksExtension } from '../mcp/extension.ts'
import { methodRow } from '../mcp/methods.ts'
import type { ServerDescription } from './connection/negotiate.ts'
import { refused } from './errors.ts'

/**
 * Throws a ChannelError `'refused'` for a request that the server has not declared to answer, or that
 * its revision does not have. Methods that are not the protocol's are let through.
 */
export function checkDeclared(server: ServerDescription, method: string): void {
  const row = methodRow(method)
  if (row === undefined) return
  if (!server.revision.methods.has(method)) {
    throw refused(method, `revision ${server.revision.name} does not have it`)
  }
  const missing = missingCapability(server, method, row.capability)
  if (missing !== undefined) throw refused(method, `the server did not declare ${missing}`)
}

function missingCapability(
  { capabilities, revision }: ServerDescription,
  method: string,
  capability: string | undefined,
): string | undefined {
  const { completionsCapability, tasks } = revision.features
  if (method.startsWith('tasks/')) {
    const isDeclared =
      tasks === 'core'
        ? capabilities.tasks !== undefined
        : capabilities.extensions?.[tasksExtension] !== undefined
    return isDeclared ? undefined : 'tasks'
  }
  if (method === 'resources/subscribe' && capabilities.resources?.subscribe !== true) {
    return 'resources.subscribe'
  }
  if (capability === undefined || (capability === 'completions' && !completionsCapability)) {
    return undefined
  }
  return new Map(Object.entries(capabilities)).get(capability) === undefined
    ? capability
    : undefined
}
