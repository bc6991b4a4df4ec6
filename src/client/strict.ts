import { skillsExtension, skillsSettings, tasksExtension } from '../mcp/extension.ts'
import { methodRow } from '../mcp/methods.ts'
import type { ServerDescription } from './connection/negotiate.ts'
import { refused } from './errors.ts'

/**
 * Throws a ChannelError `'refused'` if the revision does not have the method, or the server has not
 * declared the capability for it. Methods that are not defined by the protocol are allowed.
 */
export function checkDeclared(server: ServerDescription, method: string): void {
  const row = methodRow(method)
  if (row === undefined) return
  if (!server.revision.methods.has(method)) {
    throw refused(method, `not in protocol version ${server.revision.name}`)
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
  if (capability === 'skills') {
    return skillsSettings(capabilities) === undefined ? skillsExtension : undefined
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
