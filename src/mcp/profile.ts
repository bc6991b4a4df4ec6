import type { DecodeOptions, MessageSizes } from '../jsonrpc/codec/decode-rules.ts'
import { limits } from '../util/limits/limits.ts'
import { defined } from '../util/objects.ts'
import type { Revision } from './revisions/revision.ts'

/** The name of a built-in error profile. */
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
  /** Whether requests may have the names `tool/execute` and `resources/get`, too. */
  readonly methodAliases: boolean
  /** Whether `ping` is answered before `initialize`; otherwise it is rejected like any other request. */
  readonly earlyPing: boolean
  /** The server requests that servers also send as notifications, which run the handler without a response. */
  readonly notifiedRequests: readonly string[]
  /** The longest description of a tool that a server accepts, in characters. */
  readonly maxToolDescription: number
  /** The size limits of messages: those of this package, or those of a document of erlmcp. */
  readonly sizes: SizePreset
}

/** A table of size limits: `standard`, or those that two documents of erlmcp name. */
export type SizePreset = 'standard' | 'erlmcp-000' | 'erlmcp-003'

const MiB = 1024 * 1024
const sizePresets: Readonly<Record<SizePreset, MessageSizes>> = {
  standard: {},
  'erlmcp-000': { stdio: 10 * MiB, socket: 100 * MiB, http: 50 * MiB, websocket: 50 * MiB },
  'erlmcp-003': { stdio: 16 * MiB, socket: 64 * MiB, http: 100 * MiB },
}

const common = {
  methodAliases: false,
  earlyPing: true,
  notifiedRequests: [],
  maxToolDescription: Number.POSITIVE_INFINITY,
  sizes: 'standard',
} as const

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
    ...common,
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
    methodAliases: true,
    earlyPing: false,
    notifiedRequests: ['sampling/createMessage'],
    maxToolDescription: limits.toolDescriptionLength.default,
    sizes: 'standard',
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
    ...common,
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
  const { sizes } = changes ?? {}
  if (sizes !== undefined && !Object.hasOwn(sizePresets, sizes)) {
    const names = Object.keys(sizePresets).join(', ')
    throw new TypeError(`unknown sizes "${sizes}"; known sizes: ${names}`)
  }
  return changes === undefined ? preset : { ...preset, ...defined(changes) }
}

/**
 * Whether the error for a message without a readable id omits the id. JSON-RPC 2.0 requires null, which
 * applies to all revisions in which an error must have an id. In those from 2025-11-25 on the id is
 * optional and must not be null. On a connection without a session the message may be of such a
 * revision.
 */
export function omitsUnreadableId(profile: Profile, revision: Revision | undefined): boolean {
  return profile.errorCodes === 'specification' && (revision?.features.namelessErrors ?? true)
}

/** Returns the decoder options of a profile. */
export function decodeOptions(profile: Profile): DecodeOptions {
  const { nullIds, fractionalIds, nullParams, tooLargeCode, batchTooLargeCode } = profile
  const sizes = sizePresets[profile.sizes]
  return { nullIds, fractionalIds, nullParams, tooLargeCode, batchTooLargeCode, sizes }
}
