import { writeOnce } from '../../jsonrpc/codec/stringify.ts'
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
import { frozenCopy } from '../../util/frozen.ts'
import { isRecord } from '../../util/record.ts'

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
  /** Whether it is a call of somebody else, whose trace has been settled, and is not to be looked for. */
  readonly isPassedOn?: boolean
}

/**
 * The params of a request with `_meta` as it has to be. The caller's params stay as they are; of their
 * `_meta` everything is kept but the members set here. Where this process is traced, and the caller
 * names no trace, it is the one that the call is made in. Throws a TypeError for params by position,
 * which have no place for it.
 */
export function withMeta(
  params: object | undefined,
  { progressToken, sender, isPassedOn }: RequestMeta,
): object | undefined {
  const trace = isPassedOn !== true && isTraced() ? traceFor(params) : undefined
  if (progressToken === undefined && sender === undefined && trace === undefined) return params
  if (Array.isArray(params)) throw new TypeError('params of MCP requests are an object, not a list')
  const given = isRecord(params) ? params._meta : undefined
  if (given === undefined && progressToken === undefined && trace === undefined) {
    return sentBy(sender, params)
  }
  const own = isRecord(given) ? given : {}
  const token = progressToken !== undefined && { progressToken }
  return { ...params, _meta: { ...trace, ...own, ...token, ...sender } }
}

/** The trace that a request is made in, unless it names one itself or has no place for it. */
function traceFor(params: object | undefined): TraceContext | undefined {
  if (Array.isArray(params)) return undefined
  const given = isRecord(params) ? params._meta : undefined
  return isRecord(given) && given.traceparent !== undefined ? undefined : ambientTrace()
}

function sentBy(sender: object | undefined, params: object | undefined): object {
  // Not `{ ...params, _meta }`: members that follow a spread cost Node 20 more than the rest of a call.
  const sent: { _meta?: object } = Object.assign({}, params)
  sent._meta = sender
  return sent
}
