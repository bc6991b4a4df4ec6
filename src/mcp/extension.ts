import { RpcError } from '../jsonrpc/error.ts'
import { isRecord } from '../util/record.ts'
import type { ClientCapabilities } from './types/base.ts'

/** The name of the extension by which calls become tasks in stateless revisions. */
export const tasksExtension = 'io.modelcontextprotocol/tasks'

/** Whether a client has declared an extension. */
export function declaresExtension({ extensions }: ClientCapabilities, name: string): boolean {
  // Own members only: the name is ours, but the object is the client's.
  return extensions !== undefined && Object.hasOwn(extensions, name)
}

/** The refusal of a stateless request whose sender would have had to declare these. */
export function missingCapability(required: ClientCapabilities): RpcError {
  return new RpcError(missingCode, 'Missing required client capability', {
    data: { requiredCapabilities: required },
  })
}

/** The same for an extension. */
export function missingExtension(name: string): RpcError {
  return missingCapability({ extensions: { [name]: {} } })
}

/** Whether an error is the refusal of a request whose sender has not declared the extension. */
export function isMissingExtension(error: unknown, name: string): boolean {
  if (!(error instanceof RpcError) || error.code !== missingCode) return false
  const required = isRecord(error.data) ? error.data.requiredCapabilities : undefined
  const extensions = isRecord(required) ? required.extensions : undefined
  return isRecord(extensions) && Object.hasOwn(extensions, name)
}

const missingCode = -32021
