import type { Principal } from '../jsonrpc/channel.ts'
import { invalidParams, type RpcError } from '../jsonrpc/error.ts'
import { isConstant } from '../util/frozen.ts'
import { isRecord } from '../util/record.ts'
import { readEnvelope } from './meta.ts'
import type { Revision } from './revisions/revisions.ts'
import type { ClientCapabilities, Implementation } from './types/base.ts'
import type { LogLevel } from './types/logging.ts'

/**
 * Who asks, with which revision and capabilities: learned from `initialize` once or from `_meta` each
 * time. After it is known nobody asks how it was learned.
 */
export interface Caller {
  readonly revision: Revision
  readonly capabilities: ClientCapabilities
  /** What the client says of itself; never a reason to trust it. */
  readonly client?: Implementation
  readonly principal?: Principal
  /** The least severe log messages it wants; none without it. */
  readonly logLevel?: LogLevel
}

/**
 * The caller of a request that speaks for itself; undefined for one that does not, which belongs to a
 * session. Throws for an envelope that is not whole, and what `unsupported` makes for a revision that
 * is not served.
 */
export function statelessCaller(
  params: unknown,
  principal: Principal | undefined,
  served: readonly Revision[],
  unsupported: (requested: string) => RpcError,
): Caller | undefined {
  const meta = isRecord(params) && isRecord(params._meta) ? params._meta : none
  // What a client repeats in each of its requests is read once, while it is the very same object.
  const known = callers.get(meta)
  if (known?.served === served && known.caller.principal === principal) return known.caller
  const envelope = readEnvelope(params)
  if (envelope === undefined) return undefined
  if (!envelope.ok) {
    throw invalidParams(envelope.message, { data: { details: envelope.message } })
  }
  const { version, capabilities, client, logLevel } = envelope
  const revision = served.find(({ name, era }) => name === version && era === 'stateless')
  if (revision === undefined) throw unsupported(version)
  const caller = { revision, capabilities, client, principal, logLevel }
  if (isConstant(meta)) callers.set(meta, { served, caller: Object.freeze(caller) })
  return caller
}

/** Whom a `_meta` that cannot change has told of last, and among which revisions. */
const callers = new WeakMap<object, { served: readonly Revision[]; caller: Caller }>()

const none = {}
