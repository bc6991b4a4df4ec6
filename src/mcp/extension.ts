import { RpcError } from '../jsonrpc/error.ts'
import type { ClientCapabilities } from './types/base.ts'

/** The name of the extension by which calls become tasks in stateless revisions. */
export const tasksExtension = 'io.modelcontextprotocol/tasks'

/** Whether a client has declared an extension. */
export function declaresExtension({ extensions }: ClientCapabilities, name: string): boolean {
  // Own members only: the name is ours, but the object is the client's.
  return extensions !== undefined && Object.hasOwn(extensions, name)
}

/** The refusal of a request whose sender would have had to declare an extension. */
export function missingExtension(name: string): RpcError {
  return new RpcError(-32021, 'Missing required client capability', {
    data: { requiredCapabilities: { extensions: { [name]: {} } } },
  })
}
