import { metaKeys } from '../mcp/meta.ts'
import { isRecord, ownMember } from '../util/objects.ts'

/** The caller of a request, as far as it is known. */
export interface CallerInfo {
  /** The authenticated principal: the only member that has been verified. */
  readonly principal?: string
  /** The name and version that the client claims. */
  readonly client?: {
    /** The name that the client claims. */
    readonly name: string
    /** The version that the client claims. */
    readonly version: string
  }
  /** The protocol revision of the call. */
  readonly revision?: string
  /** Whether the call belongs to a session or describes its sender itself. */
  readonly era?: 'session' | 'stateless'
}

/** What `initialize` has established for a connection. */
export type InitializeInfo = Pick<CallerInfo, 'client' | 'revision' | 'era'>

/** Reads the params and the result of `initialize`. */
export function initializeInfo(params: unknown, result: unknown): InitializeInfo {
  const client = clientIn(isRecord(params) ? params.clientInfo : undefined)
  const revision = textIn(isRecord(result) ? result.protocolVersion : undefined)
  return { client, revision, era: 'session' }
}

/** Returns the caller of a request: from its `_meta` in stateless revisions, or else from `initialize`. */
export function callerOf(
  params: unknown,
  principal: string | undefined,
  initialized: InitializeInfo | undefined,
): CallerInfo {
  const meta = ownMember(params, '_meta')
  const revision = textIn(ownMember(meta, metaKeys.protocolVersion))
  if (!isRecord(meta) || revision === undefined) return { ...initialized, principal }
  return { principal, client: clientIn(meta[metaKeys.clientInfo]), revision, era: 'stateless' }
}

function clientIn(info: unknown): CallerInfo['client'] {
  if (!isRecord(info)) return undefined
  const { name, version } = info
  return typeof name === 'string' && typeof version === 'string' ? { name, version } : undefined
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
