import { unreadParams } from '../../jsonrpc/codec/raw-json.ts'
import type { RpcRequest } from '../../jsonrpc/message.ts'
import { methodRow } from '../../mcp/methods.ts'
import { decodeHeader } from '../../mcp/param-headers/encoding.ts'
import { isRecord } from '../../util/record.ts'
import type { HttpRequest } from '../exchange.ts'

/**
 * Why the headers that repeat parts of a stateless request do not agree with it, in words; undefined
 * when they do. The header of the revision is compared elsewhere, before anything else is looked at.
 */
export function mirrorProblem(message: RpcRequest, request: HttpRequest): string | undefined {
  const method = request.header('mcp-method')
  if (method === undefined) return 'the header Mcp-Method is missing'
  if (method.trim() !== message.method) return 'the header Mcp-Method is not the method'
  const mirrored = methodRow(message.method)?.mirrors
  if (mirrored === undefined) return undefined
  const params = unreadParams(message)
  const value = isRecord(params) ? params[mirrored] : undefined
  // What is no text is refused where it is read, with words that fit better.
  if (typeof value !== 'string') return undefined
  const header = request.header('mcp-name')
  if (header === undefined) return 'the header Mcp-Name is missing'
  const name = decodeHeader(header)
  if (name === undefined) return 'the header Mcp-Name is not well encoded'
  return name === value ? undefined : `the header Mcp-Name is not params.${mirrored}`
}
