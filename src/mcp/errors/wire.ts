import { codes, RpcError } from '../../jsonrpc/error.ts'
import type { ErrorObject } from '../../jsonrpc/message.ts'
import { isRecord } from '../../util/record.ts'
import { type Profile, type ProfileName, profile } from '../profile.ts'
import { canHaveNumber, type Era, isForbidden, specifiedKind, specifiedNumber } from './codes.ts'
import { isKnownCode } from './constructors.ts'
import { catalogue, type Entry, entryOf, type Kind } from './table.ts'

/** Whom an error goes to or comes from. */
export interface ErrorContext {
  /** `'mcp'` unless said otherwise. */
  readonly profile?: ProfileName | Profile
  /** The revision of the request; one with sessions unless said otherwise. */
  readonly revision?: { readonly era: Era }
}

/**
 * The error as it goes into a failure: its kind's number in this profile and revision, and its kind
 * in `data.kind` where the profile says so.
 *
 * An error without a kind of the catalogue keeps the code its author chose, save where the profile
 * is strict or the revision forbids that code: then it is -32603, with the code in
 * `data.originalCode` and the data in `data.originalData`.
 */
export function toWire(error: RpcError, context: ErrorContext = {}): ErrorObject {
  const rules = profile(context.profile)
  const era = context.revision?.era ?? 'session'
  const bySpecification = rules.errorNumbers === 'specification'
  const entry = error.kind === undefined ? undefined : catalogue.get(error.kind)
  if (entry !== undefined) {
    const code = bySpecification ? specifiedNumber(entry, era) : entry.code
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

function tellKind({ kind, category }: Entry, data: unknown, { errorKinds }: Profile): unknown {
  if (errorKinds === 'none') return data
  if (errorKinds === 'non-standard' && category === 'jsonrpc') return data
  if (data === undefined) return { kind }
  // Data that cannot hold a member become one, under the name the catalogue has for free words.
  return isRecord(data) ? { ...data, kind } : { details: data, kind }
}

/**
 * What kind of error this is: by `data.kind`, where the code fits it; else by the data, where a code
 * has two meanings (a `uri` makes it a resource's, a `tool` a tool's); else by the code alone, as
 * the profile and revision of the sender understand it.
 */
export function kindOf(
  error: { readonly code: number; readonly data?: unknown },
  context: ErrorContext = {},
): Kind | undefined {
  const { code, data } = error
  const bySpecification = profile(context.profile).errorNumbers === 'specification'
  if (isRecord(data)) {
    // A stranger's data may have a `kind` of its own: one that never has this code is not ours.
    const told = typeof data.kind === 'string' ? catalogue.get(data.kind) : undefined
    if (told !== undefined && canHaveNumber(told, code)) return told.kind
    if (code === NOT_FOUND || (bySpecification && code === codes.invalidParams)) {
      if (typeof data.uri === 'string') return 'resource_not_found'
      if (typeof data.tool === 'string') return 'tool_not_found'
    }
  }
  return bySpecification
    ? specifiedKind(code, context.revision?.era ?? 'session')
    : entryOf(code)?.kind
}

/** Resource not found in the specification, tool not found in the catalogue. */
const NOT_FOUND = -32002

/**
 * An error that arrived, with its kind, category and severity filled in as far as they can be told.
 * Code, message and data stay as they came.
 */
export function fromWire(error: ErrorObject, context: ErrorContext = {}): RpcError {
  const kind = kindOf(error, context)
  const entry = kind === undefined ? undefined : catalogue.get(kind)
  return new RpcError(error.code, error.message, {
    data: error.data,
    kind,
    category: entry?.category ?? 'unknown',
    severity: entry?.severity ?? 'info',
  })
}
