import { RpcError } from '../jsonrpc/error.ts'
import { isRecord, ownMember } from '../util/objects.ts'
import type { ClientCapabilities, ServerCapabilities } from './types/base.ts'

/** The name of the extension that turns calls into tasks in stateless revisions. */
export const tasksExtension = 'io.modelcontextprotocol/tasks'

/** The name of the extension with which servers serve skills. */
export const skillsExtension = 'io.modelcontextprotocol/skills'

/** The settings that a server has declared for the skills extension; undefined if it has not declared it. */
export function skillsSettings({
  extensions,
}: ServerCapabilities): { readonly directoryRead?: unknown } | undefined {
  const settings = ownMember(extensions, skillsExtension)
  return isRecord(settings) ? settings : undefined
}

/** Whether a client has declared an extension. */
export function declaresExtension({ extensions }: ClientCapabilities, name: string): boolean {
  // Own members only, because the object comes from the client.
  return extensions !== undefined && Object.hasOwn(extensions, name)
}

/** Creates the error for a stateless request whose client has not declared the required capabilities. */
export function missingCapability(required: ClientCapabilities): RpcError {
  return new RpcError(missingCode, 'Missing required client capability', {
    data: { requiredCapabilities: required },
  })
}

/** Creates the error for a stateless request whose client has not declared an extension. */
export function missingExtension(name: string): RpcError {
  return missingCapability({ extensions: { [name]: {} } })
}

/** Whether an error says that the client has not declared an extension. */
export function isMissingExtension(error: unknown, name: string): boolean {
  const extensions = requiredIn(error)?.extensions
  return isRecord(extensions) && Object.hasOwn(extensions, name)
}

/** Returns the capabilities that an error says the client has not declared; undefined for any other error. */
export function requiredIn(error: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!(error instanceof RpcError) || error.code !== missingCode) return undefined
  const required = isRecord(error.data) ? error.data.requiredCapabilities : undefined
  return isRecord(required) ? required : undefined
}

const missingCode = -32021
