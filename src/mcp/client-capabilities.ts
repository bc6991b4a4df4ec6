import type { RpcError } from '../jsonrpc/error.ts'
import { isRecord } from '../util/objects.ts'
import { errors } from './errors/constructors.ts'
import { mcpMethods, type ServerRequestCapability, serverRequestMethods } from './methods.ts'
import type { Revision } from './revisions/revision.ts'
import type { ClientCapabilities, Members } from './types/base.ts'

/** The client capabilities of the server requests. */
export type ServerRequestCapabilities = Pick<ClientCapabilities, ServerRequestCapability>

/** Converts a capability to the form of a revision; returns undefined if the revision does not have it. */
type Convert = (declared: Members, revision: Revision) => Members | undefined

const conversions: Readonly<Record<ServerRequestCapability, Convert>> = {
  roots: ({ listChanged }, { methods }) =>
    listChanged === true && methods.has('notifications/roots/list_changed') ? { listChanged } : {},
  sampling: (declared, { features }) => (features.samplingTools ? declared : {}),
  elicitation: (declared, { features }) => {
    // An empty object means forms, as in the revision that had nothing else.
    const hasForm = 'form' in declared || !('url' in declared)
    if (features.elicitation === 'none') return undefined
    if (features.elicitation === 'form') return hasForm ? {} : undefined
    return { ...(hasForm && { form: {} }), ...('url' in declared && { url: {} }) }
  },
}

/** Everything that a client can declare about server requests. */
export const allServerRequests: Readonly<Required<ServerRequestCapabilities>> = {
  roots: { listChanged: true },
  sampling: { tools: {}, context: {} },
  elicitation: { form: {}, url: {} },
}

/** The capabilities, or parts of them, that a server request may require, by the name in error messages. */
export const requirements = {
  elicitation: { elicitation: { form: {} } },
  'elicitation.url': { elicitation: { url: {} } },
  sampling: { sampling: {} },
  'sampling.tools': { sampling: { tools: {} } },
  roots: { roots: {} },
} as const satisfies Readonly<Record<string, ServerRequestCapabilities>> &
  Record<ServerRequestCapability, unknown>

/** The name of a requirement. */
export type Requirement = keyof typeof requirements

/** Whether a name is that of a requirement. */
export function isRequirement(name: string): name is Requirement {
  return Object.hasOwn(requirements, name)
}

/** Returns the error for a capability that a client has not declared, in revisions without a specified one. */
export function capabilityNotDeclared(capability: string): RpcError {
  const message = `The client has not declared the capability ${capability}`
  return errors.capabilityNotSupported({ capability }, { message })
}

/**
 * Returns the capabilities of the server requests in the form of a revision, without those that the
 * revision does not have. The values may come from a peer: anything but an object means not declared.
 */
export function serverRequestsIn(
  revision: Revision,
  declared: ServerRequestCapabilities,
): ServerRequestCapabilities {
  const converted = serverRequestMethods.flatMap(method => {
    const { capability } = mcpMethods[method]
    const value: unknown = declared[capability]
    const form = isRecord(value) ? conversions[capability](value, revision) : undefined
    return form === undefined ? [] : [[capability, form] as const]
  })
  return Object.fromEntries(converted)
}
