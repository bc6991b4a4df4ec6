import type { RpcError } from '../../jsonrpc/error.ts'
import { grantPageOf } from '../../mcp/caller-credentials.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { methodRow } from '../../mcp/methods.ts'
import type { Members } from '../../mcp/types/base.ts'
import { takesUrls } from '../../server/input/require-capability.ts'
import type { IncomingRequest } from '../../server/request.ts'

/**
 * Returns what a caller gets that cannot show its user the page on which the user allows the router to act for them: a
 * tool error, which a model reads to the user, or an error for other requests. Returns undefined for a caller that can
 * show the page, and for any other error.
 */
export function connectInstead(
  { caller, method }: Pick<IncomingRequest, 'caller' | 'method'>,
  error: unknown,
): Members | RpcError | undefined {
  const page = grantPageOf(error)
  if (page === undefined) return undefined
  if (takesUrls(caller) && methodRow(method)?.mayRequestInput === true) return undefined
  const text = `${page.message} Open this page in your browser, then call again: ${page.url}`
  if (method === 'tools/call') return { content: [{ type: 'text', text }], isError: true }
  return errors.authorizationFailed({ reason: page.message, url: page.url }, { message: text })
}
