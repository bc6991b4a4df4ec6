import { type RawCalls, RawJson, rawShape } from '../../jsonrpc/codec/raw-json.ts'
import { metaKeys } from '../../mcp/meta.ts'
import { withinTrace } from '../../mcp/trace-context.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { IncomingRequest } from '../../server/request.ts'
import { assignMembers, copyWithout, isRecord, ownMember } from '../../util/objects.ts'

/** The member of `_meta` in which a caller may say how long it waits for the result, in milliseconds. */
const timeoutKey = 'trunkline/timeoutMs'

/** Members of `_meta` that belong to one hop: a forwarded message has its own, or none. */
const hopKeys: ReadonlySet<string> = new Set([
  metaKeys.protocolVersion,
  metaKeys.clientCapabilities,
  metaKeys.clientInfo,
  metaKeys.serverInfo,
  metaKeys.logLevel,
  metaKeys.subscriptionId,
  metaKeys.relatedTask,
  metaKeys.progressToken,
  timeoutKey,
])

/** Members of params that are meant for the router only. */
const routerMembers: ReadonlySet<string> = new Set([
  'requestState',
  'inputResponses',
  'task',
  '_meta',
])

/** Requests whose arguments may be forwarded as raw JSON. Requests with other members are parsed. */
export const rawCalls: RawCalls = new Map([
  ['tools/call', rawShape({ name: 'scalar', arguments: 'object', _meta: 'parsed' })],
])

/** Returns `_meta` without the members of the hop it came by; undefined if none is left. */
export function forwardedMeta(meta: unknown): Members | undefined {
  if (!isRecord(meta)) return undefined
  for (const key in meta) if (!hopKeys.has(key)) return copyWithout(meta, hopKeys)
  return undefined
}

/**
 * Returns the params of a call for the upstream server: without the members that are meant for the
 * router, with those of `replaced` and `retry` in place of the caller's.
 */
export function forwardedParams(
  params: Members,
  replaced: Members,
  retry?: Members,
  asTask = false,
): Members {
  const forwarded =
    params.arguments instanceof RawJson
      ? withRawArguments(params)
      : copyWithout(params, routerMembers)
  assignMembers(forwarded, replaced)
  if (retry !== undefined) assignMembers(forwarded, retry)
  if (asTask) forwarded.task = {}
  // The trace of the caller continues as a child of the router's own, where there is one.
  const meta = withinTrace(forwardedMeta(ownMember(params, '_meta')))
  if (meta !== undefined) forwarded._meta = meta
  return forwarded
}

/** Params with raw arguments have no other members but `_meta`: see `rawCalls`. */
function withRawArguments({ name, arguments: given }: Members): Record<string, unknown> {
  return { name, arguments: given }
}

/** Returns how long a caller waits by its own word, at most `maxMs`; 0 means no limit. */
export function timeoutFor({ params }: IncomingRequest, maxMs: number): number {
  const wanted = ownMember(ownMember(params, '_meta'), timeoutKey)
  if (typeof wanted !== 'number' || !(wanted > 0)) return maxMs
  return maxMs > 0 ? Math.min(maxMs, wanted) : wanted
}

/** Returns params that say how long the caller still waits: for a server that forwards the call in turn. */
export function withTimeoutMs(params: object, timeoutMs: number): object {
  const _meta = ownMember(params, '_meta')
  const added = { [timeoutKey]: Math.ceil(timeoutMs) }
  return { ...params, _meta: isRecord(_meta) ? { ..._meta, ...added } : added }
}
