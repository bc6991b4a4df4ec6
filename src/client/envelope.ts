import { writeOnce } from '../jsonrpc/write.ts'
import { metaKeys } from '../mcp/meta.ts'
import { implementationFor } from '../mcp/revisions/shape.ts'
import type { Revision } from '../mcp/revisions.ts'
import type {
  ClientCapabilities,
  Implementation,
  LogLevel,
  ProgressToken,
} from '../mcp/types/base.ts'
import { frozenCopy } from '../util/frozen.ts'
import { isRecord } from '../util/record.ts'

/** Who sends a request, in which words, and what it can be asked. */
export interface Sender {
  readonly revision: Revision
  readonly capabilities: ClientCapabilities
  readonly info: Implementation
  readonly logLevel?: LogLevel
}

/**
 * What a stateless request says of its sender, as members of `_meta`: a copy, frozen, because many
 * requests carry it, by reference where the server is in the same process.
 */
export function senderMeta({ revision, capabilities, info, logLevel }: Sender): object {
  const meta = frozenCopy({
    [metaKeys.protocolVersion]: revision.name,
    [metaKeys.clientCapabilities]: capabilities,
    [metaKeys.clientInfo]: implementationFor(revision, info),
    ...(logLevel !== undefined && { [metaKeys.logLevel]: logLevel }),
  })
  return writeOnce(meta)
}

/** What goes into the `_meta` of a request beside what its caller put there. */
export interface RequestMeta {
  readonly progressToken?: ProgressToken
  /** What `senderMeta` gave; not in sessions, where both sides know it. */
  readonly sender?: object
}

/**
 * The params of a request with `_meta` as it has to be. The caller's params stay as they are; of their
 * `_meta` everything is kept but the members set here. Throws a TypeError for params by position,
 * which have no place for it.
 */
export function withMeta(
  params: object | undefined,
  { progressToken, sender }: RequestMeta,
): object | undefined {
  if (progressToken === undefined && sender === undefined) return params
  if (Array.isArray(params)) throw new TypeError('params of MCP requests are an object, not a list')
  const given = isRecord(params) ? params._meta : undefined
  if (given === undefined && progressToken === undefined) return sentBy(sender, params)
  const own = isRecord(given) ? given : {}
  const _meta = { ...own, ...(progressToken !== undefined && { progressToken }), ...sender }
  return { ...params, _meta }
}

function sentBy(sender: object | undefined, params: object | undefined): object {
  // Not `{ ...params, _meta }`: members that follow a spread cost Node 20 more than the rest of a call.
  const sent: { _meta?: object } = Object.assign({}, params)
  sent._meta = sender
  return sent
}
