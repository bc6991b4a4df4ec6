import { RpcError } from '../jsonrpc/error.ts'
import { isRecord } from '../util/objects.ts'
import type { ClientCapabilities } from './types/base.ts'

/** The name of the extension that turns calls into tasks in stateless revisions. */
export const tasksExtension = 'io.modelcontextprotocol/tasks'

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
  if (!(error instanceof RpcError) || error.code !== missingCode) return false
  const required = isRecord(error.data) ? error.data.requiredCapabilities : undefined
  const extensions = isRecord(required) ? required.extensions : undefined
  return isRecord(extensions) && Object.hasOwn(extensions, name)
}

const missingCode = -32021
