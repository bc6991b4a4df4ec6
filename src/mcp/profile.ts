import { defined } from '../util/defined.ts'

export type ProfileName = 'mcp' | 'erlmcp' | 'jsonrpc'

/** The choices the protocols leave open, made once for a server or client. */
export interface Profile {
  /** The preset it began as. */
  readonly name: ProfileName
  /** Whether a request may have the id null; refused with -32600 otherwise. */
  readonly nullIds: boolean
  /** Whether an id may be a fraction. */
  readonly fractionalIds: boolean
  /** Whether `"params": null` counts as no params instead of being refused. */
  readonly nullParams: boolean
  /** Whether batches are taken: by what the negotiated revision says, always, or never. */
  readonly batches: 'auto' | 'always' | 'never'
  /** The code that answers a batch with too many messages. */
  readonly batchTooLargeCode: number
  /** The code that answers a message with too many bytes. */
  readonly tooLargeCode: number
  /** Whose numbers errors have: the specification's where it has one, or the catalogue's own. */
  readonly errorNumbers: 'specification' | 'catalogue'
  /** Which errors tell their kind in `data.kind`: all, those beside the five standard ones, none. */
  readonly errorKinds: 'all' | 'non-standard' | 'none'
  /** Whether a code outside of the catalogue goes out as -32603, with the code in the data. */
  readonly strictErrorCodes: boolean
  /** What a wish for an unknown revision gets: another revision offered, or an error. */
  readonly versionMismatch: 'negotiate' | 'error'
  /** Which names our notifications have: `notifications/message`, or `message` as erlmcp's. */
  readonly notificationNames: 'specification' | 'seed'
}

/**
 * The three presets. `mcp` sends exactly what the specification says and is liberal in what it takes;
 * `erlmcp` speaks to peers of that name; `jsonrpc` is JSON-RPC 2.0 without the rules of MCP.
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
    errorNumbers: 'specification',
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
    errorNumbers: 'catalogue',
    // Its peers know the kinds by their numbers, and expect the members of the catalogue alone.
    errorKinds: 'none',
    strictErrorCodes: true,
    versionMismatch: 'error',
    notificationNames: 'seed',
  },
  jsonrpc: {
    name: 'jsonrpc',
    nullIds: true,
    fractionalIds: false,
    nullParams: false,
    batches: 'always',
    batchTooLargeCode: -32600,
    tooLargeCode: -32012,
    errorNumbers: 'catalogue',
    // The examples of the specification show the standard errors without data.
    errorKinds: 'non-standard',
    strictErrorCodes: false,
    versionMismatch: 'negotiate',
    notificationNames: 'specification',
  },
}

/**
 * A preset with some choices made otherwise: `profile('erlmcp', { strictErrorCodes: false })`.
 * Takes a profile made before as well, and gives it back as it is when nothing changes. Throws a
 * TypeError for a name that no preset has.
 */
export function profile(
  base: ProfileName | Profile = 'mcp',
  changes?: Partial<Omit<Profile, 'name'>>,
): Profile {
  if (typeof base === 'string' && !Object.hasOwn(profiles, base)) {
    const names = Object.keys(profiles).join(', ')
    throw new TypeError(`no profile is called "${base}"; there are ${names}`)
  }
  const preset = typeof base === 'string' ? profiles[base] : base
  return changes === undefined ? preset : { ...preset, ...defined(changes) }
}
