import type { RpcError } from '../../src/jsonrpc/error.ts'
import type { Method } from '../../src/jsonrpc/handler.ts'

export declare function ourMethods(error: typeof RpcError): Readonly<Record<string, Method>>
