import type { DecodeOptions } from '../jsonrpc/codec/decode.ts'
import { defined } from '../util/objects.ts'

export type ProfileName = 'mcp' | 'erlmcp' | 'jsonrpc'

/** The choices that the protocols leave open, made once for a server or client. */
export interface Profile {
  /** The preset it is based on. */
  readonly name: ProfileName
  /** Whether a request may have the id null; otherwise it is rejected with -32600. */
  readonly nullIds: boolean
  /** Whether an id may be a number with a fraction. */
  readonly fractionalIds: boolean
  /** Whether `"params": null` counts as no params instead of being rejected. */
  readonly nullParams: boolean
  /** Whether batches are accepted: as the negotiated revision defines, always, or never. */
  readonly batches: 'auto' | 'always' | 'never'
  /** The error code for a batch with too many messages. */
  readonly batchTooLargeCode: number
  /** The error code for a message with too many bytes. */
  readonly tooLargeCode: number
  /** Which codes errors have: the specified code where there is one, or the code of the error table. */
  readonly errorCodes: 'specification' | 'table'
  /** Which errors have their kind in `data.kind`: all, all but the five standard ones, or none. */
  readonly errorKinds: 'all' | 'non-standard' | 'none'
  /** Whether a code that is not in the error table is sent as -32603, with the code in the data. */
  readonly strictErrorCodes: boolean
  /** What `initialize` with an unknown revision returns: another revision, or an error. */
  readonly versionMismatch: 'negotiate' | 'error'
  /** The names of notifications that we send: `notifications/message`, or `message` as erlmcp does. */
  readonly notificationNames: 'specification' | 'erlmcp'
}

/**
 * The three presets. `mcp` sends exactly what the specification defines and is liberal in what it
 * accepts; `erlmcp` is for peers of that name; `jsonrpc` is JSON-RPC 2.0 without the rules of MCP.
 */
export const profiles: Readonly<Record<ProfileName, Profile>> = {
  mcp: {
    name: 'mcp',
    nullIds: false,
    fractionalIds: false,
    nullParams: false,
    batches: 'auto',
    batchTooLargeCode: -32600,
    tooLargeCode: -32012,
    errorCodes: 'specification',
    errorKinds: 'all',
    strictErrorCodes: false,
    versionMismatch: 'negotiate',
    notificationNames: 'specification',
  },
  erlmcp: {
    name: 'erlmcp',
    nullIds: false,
    fractionalIds: false,
    nullParams: true,
    batches: 'always',
    batchTooLargeCode: -32069,
    tooLargeCode: -32012,
    errorCodes: 'table',
    // Its peers identify errors by their codes, and expect only the data members of the table.
    errorKinds: 'none',
    strictErrorCodes: true,
    versionMismatch: 'error',
    notificationNames: 'erlmcp',
  },
  jsonrpc: {
    name: 'jsonrpc',
    nullIds: true,
    fractionalIds: false,
    nullParams: false,
    batches: 'always',
    batchTooLargeCode: -32600,
    tooLargeCode: -32012,
    errorCodes: 'table',
    // The examples of the JSON-RPC specification show the standard errors without data.
    errorKinds: 'non-standard',
    strictErrorCodes: false,
    versionMismatch: 'negotiate',
    notificationNames: 'specification',
  },
}

/**
 * Returns a preset with some choices changed: `profile('erlmcp', { strictErrorCodes: false })`. Accepts
 * a profile too, and returns it unchanged if there are no changes. Throws a TypeError for an unknown
 * name.
 */
export function profile(
  base: ProfileName | Profile = 'mcp',
  changes?: Partial<Omit<Profile, 'name'>>,
): Profile {
  if (typeof base === 'string' && !Object.hasOwn(profiles, base)) {
    const names = Object.keys(profiles).join(', ')
    throw new TypeError(`unknown profile "${base}"; known profiles: ${names}`)
  }
  const preset = typeof base === 'string' ? profiles[base] : base
  return changes === undefined ? preset : { ...preset, ...defined(changes) }
}

/** Returns the decoder options of a profile. */
export function decodeOptions(profile: Profile): DecodeOptions {
  const { nullIds, fractionalIds, nullParams, tooLargeCode, batchTooLargeCode } = profile
  return { nullIds, fractionalIds, nullParams, tooLargeCode, batchTooLargeCode }
}
