import type { Principal } from '../jsonrpc/channel.ts'
import { invalidParams, type RpcError } from '../jsonrpc/error.ts'
import { isDeepFrozen, isRecord, ownMember } from '../util/objects.ts'
import { metaKeys, readRequestMeta } from './meta.ts'
import { newest, type Revision, revisionOf } from './revisions/revisions.ts'
import type { ClientCapabilities, Implementation } from './types/base.ts'
import type { LogLevel } from './types/logging.ts'

/**
 * The client that sends a request: its revision, capabilities and identity, learned once from
 * `initialize` or from `_meta` of every request. Code that handles requests does not distinguish the
 * two.
 */
export interface Caller {
  /** The protocol revision of the request. */
  readonly revision: Revision
  /** The features that the client has declared, such as elicitation. */
  readonly capabilities: ClientCapabilities
  /** What the client claims to be; never a reason to trust it. */
  readonly client?: Implementation
  /** The authenticated identity of the client; undefined if there is no authentication. */
  readonly principal?: Principal
  /** The least severe level of log messages that the client has requested; undefined if it has requested none. */
  readonly logLevel?: LogLevel
}

/** Why a request that names a stateless revision in its `_meta` has no caller. */
export interface CallerProblem {
  readonly ok: false
  /** The revision that the request names, where that is a string: HTTP compares it with a header first. */
  readonly version?: string
  /** Whether everything but the revision is valid: the server does not serve that one. */
  readonly isUnserved?: boolean
  /** What is wrong with `_meta`, in one sentence. */
  readonly message: string
}

/**
 * Reads the caller of a stateless request from its `_meta`. Returns undefined for a request of a
 * session, and for every request where `served` holds no stateless revision.
 *
 * Clients repeat `_meta` in each request: the caller is cached while it is the very same object.
 */
export function readCaller(
  params: unknown,
  principal: Principal | undefined,
  served: readonly Revision[],
): Caller | CallerProblem | undefined {
  const given = ownMember(params, '_meta')
  const meta = isRecord(given) ? given : none
  const known = callers.get(meta)
  if (known?.served === served && known.caller.principal === principal) return known.caller
  const read = readRequestMeta(params)
  if (read === undefined) return undefined
  const revision = read.ok ? revisionOf('stateless', read.version, served) : undefined
  if (!read.ok || revision === undefined) {
    if (newest('stateless', served) === undefined) return undefined
    if (!read.ok) return read
    const message = 'the protocol version is not served'
    return { ok: false, version: read.version, isUnserved: true, message }
  }
  const { capabilities, client, logLevel } = read
  const caller = { revision, capabilities, client, principal, logLevel }
  if (isDeepFrozen(meta)) callers.set(meta, { served, caller: Object.freeze(caller) })
  return caller
}

/**
 * Reads the caller of a stateless request as `readCaller` does, and throws an RpcError where there is
 * none: the one that `unsupported` makes for a revision that is not served, else -32602.
 */
export function statelessCaller(
  params: unknown,
  principal: Principal | undefined,
  served: readonly Revision[],
  unsupported: (requested: string) => RpcError,
): Caller | undefined {
  const found = readCaller(params, principal, served)
  if (found === undefined || 'revision' in found) return found
  const { message, version = '' } = found
  if (found.isUnserved === true) throw unsupported(version)
  throw invalidParams(message, { data: { details: message } })
}

/** The caller that was last read from each immutable `_meta`, and the revisions it was chosen from. */
const callers = new WeakMap<object, { served: readonly Revision[]; caller: Caller }>()

const none = {}

/** Returns the era of a request: a stateless one names its protocol version in `_meta`, and no other does. */
export function eraOf(params: unknown): Revision['era'] {
  const meta = ownMember(params, '_meta')
  const version = ownMember(meta, metaKeys.protocolVersion)
  return typeof version === 'string' ? 'stateless' : 'session'
}
