import { codes, RpcError } from '../../jsonrpc/error.ts'
import type { ErrorObject } from '../../jsonrpc/message.ts'
import type { PeerOptions } from '../../jsonrpc/peer/options.ts'
import { isRecord } from '../../util/objects.ts'
import { type Profile, type ProfileName, profile } from '../profile.ts'
import { canHaveCode, type Era, isForbidden, specifiedCode, specifiedKind } from './codes.ts'
import { isKnownCode } from './constructors.ts'
import { type ErrorEntry, type ErrorKind, errorEntryOf, errorTable } from './table.ts'

/** The profile and revision of the peer that an error goes to or comes from. */
export interface ErrorContext {
  /** `'mcp'` by default. */
  readonly profile?: ProfileName | Profile
  /** The revision of the request; a session revision by default. */
  readonly revision?: {
    /** Whether the revision has sessions or is stateless. */
    readonly era: Era
  }
}

/**
 * Converts an error into an error object: with the code of its kind in this profile and revision, and
 * with its kind in `data.kind` if the profile has it.
 *
 * An error without a kind of the error table keeps its code, unless the profile is strict or the
 * revision forbids that code: then the code is -32603, with the original in `data.originalCode` and the
 * data in `data.originalData`.
 */
export function toWire(error: RpcError, context: ErrorContext = {}): ErrorObject {
  const rules = profile(context.profile)
  const era = context.revision?.era ?? 'session'
  const bySpecification = rules.errorCodes === 'specification'
  const entry = error.kind === undefined ? undefined : errorTable.get(error.kind)
  if (entry !== undefined) {
    const code = bySpecification ? specifiedCode(entry, era) : entry.code
    return errorObject(code, error.message, tellKind(entry, error.data, rules))
  }
  if (
    (rules.strictErrorCodes && !isKnownCode(error.code)) ||
    (bySpecification && isForbidden(error.code, era))
  ) {
    return errorObject(codes.internalError, error.message, {
      originalCode: error.code,
      originalData: error.data,
    })
  }
  return errorObject(error.code, error.message, error.data)
}

function errorObject(code: number, message: string, data: unknown): ErrorObject {
  return data === undefined ? { code, message } : { code, message, data }
}

function tellKind({ kind, category }: ErrorEntry, data: unknown, { errorKinds }: Profile): unknown {
  if (errorKinds === 'none') return data
  if (errorKinds === 'non-standard' && category === 'jsonrpc') return data
  if (data === undefined) return { kind }
  // Data that is not an object becomes the member `details`, the name the table has for free text.
  return isRecord(data) ? { ...data, kind } : { details: data, kind }
}

/**
 * Returns the kind of an error: by `data.kind`, if the code fits it; else by the data, if a code has
 * two meanings (`uri` means a resource, `tool` a tool); else by the code alone, as the profile and
 * revision of the sender define it. Undefined if none applies.
 */
export function kindOf(
  error: { readonly code: number; readonly data?: unknown },
  context: ErrorContext = {},
): ErrorKind | undefined {
  const { code, data } = error
  const bySpecification = profile(context.profile).errorCodes === 'specification'
  if (isRecord(data)) {
    // Other implementations may use `data.kind` too: a kind that never has this code is not ours.
    const named = typeof data.kind === 'string' ? errorTable.get(data.kind) : undefined
    if (named !== undefined && canHaveCode(named, code)) return named.kind
    if (code === NOT_FOUND || (bySpecification && code === codes.invalidParams)) {
      if (typeof data.uri === 'string') return 'resource_not_found'
      if (typeof data.tool === 'string') return 'tool_not_found'
    }
  }
  return bySpecification
    ? specifiedKind(code, context.revision?.era ?? 'session')
    : errorEntryOf(code)?.kind
}

/** Resource not found in the specification, tool not found in the error table. */
const NOT_FOUND = -32002

/**
 * Converts a received error object into an RpcError with its kind, category and severity, as far as
 * they are known. Code, message and data stay unchanged.
 */
export function fromWire(error: ErrorObject, context: ErrorContext = {}): RpcError {
  const kind = kindOf(error, context)
  const entry = kind === undefined ? undefined : errorTable.get(kind)
  return new RpcError(error.code, error.message, {
    data: error.data,
    kind,
    category: entry?.category ?? 'unknown',
    severity: entry?.severity ?? 'info',
  })
}

/** Returns the peer options of a profile in a revision. Without a revision, `'auto'` batches are off. */
export function peerOptions(
  profile: Profile,
  revision?: { readonly era: Era; readonly batches: boolean },
): Pick<PeerOptions, 'batches' | 'toWire' | 'fromWire'> {
  return {
    batches:
      profile.batches === 'auto' ? (revision?.batches ?? false) : profile.batches === 'always',
    toWire: error => toWire(error, { profile, revision }),
    fromWire: error => fromWire(error, { profile, revision }),
  }
}
