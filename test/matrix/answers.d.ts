import type { RpcError } from '../../src/jsonrpc/error.ts'
import type { Method } from '../../src/jsonrpc/handler.ts'

export function answers(error: typeof RpcError): Record<string, Method>
