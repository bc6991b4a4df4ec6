import { cacheJson } from '../../jsonrpc/codec/stringify.ts'
import { metaKeys, type TraceContext } from '../../mcp/meta.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import { implementationFor } from '../../mcp/revisions/shape.ts'
import { ambientTrace, isTraced } from '../../mcp/trace-context.ts'
import type {
  ClientCapabilities,
  Implementation,
  LogLevel,
  ProgressToken,
} from '../../mcp/types/base.ts'
import { frozenCopy, isRecord, ownMember } from '../../util/objects.ts'

/** What a stateless request says of its client. */
export interface SenderInfo {
  readonly revision: Revision
  readonly capabilities: ClientCapabilities
  readonly info: Implementation
  readonly logLevel?: LogLevel
}

/**
 * Returns what a stateless request says of its client, as members of `_meta`: a frozen copy, because many
 * requests carry it, by reference where the server is in the same process.
 */
export function senderMeta({ revision, capabilities, info, logLevel }: SenderInfo): object {
  const meta = frozenCopy({
    [metaKeys.protocolVersion]: revision.name,
    [metaKeys.clientCapabilities]: capabilities,
    [metaKeys.clientInfo]: implementationFor(revision, info),
    ...(logLevel !== undefined && { [metaKeys.logLevel]: logLevel }),
  })
  return cacheJson(meta)
}

/** Members to add to the `_meta` of a request. */
export interface RequestMeta {
  readonly progressToken?: ProgressToken
  /** The result of `senderMeta`; undefined in sessions, where the server knows it from `initialize`. */
  readonly sender?: object
  /** Whether the request is forwarded for another caller, whose trace context is already in its `_meta`. */
  readonly isForwarded?: boolean
}

/**
 * Returns the params of a request with the members added to `_meta`, without changing the caller's object;
 * other members of `_meta` are kept. If this process is traced and `_meta` has no trace context, the
 * ambient one is added. Throws a TypeError for positional params, which have no place for `_meta`.
 */
export function withMeta(
  params: object | undefined,
  { progressToken, sender, isForwarded }: RequestMeta,
): object | undefined {
  const trace = isForwarded !== true && isTraced() ? traceFor(params) : undefined
  if (progressToken === undefined && sender === undefined && trace === undefined) return params
  if (Array.isArray(params))
    throw new TypeError('params of MCP requests must be an object (got an array)')
  const given = ownMember(params, '_meta')
  if (given === undefined && progressToken === undefined && trace === undefined) {
    return sentBy(sender, params)
  }
  const own = isRecord(given) ? given : {}
  const token = progressToken !== undefined && { progressToken }
  return { ...params, _meta: { ...trace, ...own, ...token, ...sender } }
}

/** Returns the ambient trace context, unless the request has one of its own or has no place for it. */
function traceFor(params: object | undefined): TraceContext | undefined {
  if (Array.isArray(params)) return undefined
  const given = ownMember(params, '_meta')
  return isRecord(given) && given.traceparent !== undefined ? undefined : ambientTrace()
}

function sentBy(sender: object | undefined, params: object | undefined): object {
  // Not `{ ...params, _meta }`: members that follow a spread cost Node 20 more than the rest of a call.
  const sent: { _meta?: object } = { ...params }
  sent._meta = sender
  return sent
}
