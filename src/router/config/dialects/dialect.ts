import type { ConfigPath } from '../issue.ts'

/** How the value of a key is converted to the value of the field it stands for; see `conversions`. */
export type Conversion = 'same' | 'not' | 'ms' | 'seconds' | 'bearer' | 'references'

/** What a key of a server in the file of a host means for the router. */
export type KeyRule =
  /** It is another name of a field, or of a member of a field. */
  | { readonly kind: 'field'; readonly field: ConfigPath; readonly as: Conversion }
  /** Its members are members of the server. */
  | { readonly kind: 'members' }
  /** It concerns only the host. `why` is the rest of a sentence; a warning is printed, a note is not. */
  | { readonly kind: 'ignored'; readonly severity: 'warning' | 'note'; readonly why: string }
  /** It would change what is started or exposed, and cannot be honored. */
  | { readonly kind: 'refused'; readonly why: string }
  /** It names a file with environment variables. */
  | { readonly kind: 'envFile' }

/** Rules by key. */
export type KeyRules = ReadonlyMap<string, KeyRule>

/** The format of the configuration file of one host, or of several hosts that share it. */
export interface HostDialect {
  /** The host, as users know it. */
  readonly host: string
  /** Matches the paths of its files, with forward slashes. */
  readonly files?: RegExp
  /** Matches the `$schema` of its files. */
  readonly schema?: RegExp
  /**
   * Where the servers are, most specific first. A step of {@link workspace} stands for the path of the current
   * workspace.
   */
  readonly servers: readonly ConfigPath[]
  /** False for a settings file of the host, whose other members are never settings of the router. */
  readonly settings?: false
  /** Where inputs are declared that a user is asked for. */
  readonly inputs?: readonly ConfigPath[]
  /** Lists of server names: with `only`, all others are disabled; those in `except` are disabled. */
  readonly only?: readonly ConfigPath[]
  readonly except?: readonly ConfigPath[]
  /** The unit of `timeout`. */
  readonly timeout?: 'ms' | 'seconds' | undefined
  /** Keys with a meaning of their own in this dialect; all others mean the same in every dialect. */
  readonly keys?: KeyRules
  /** Entries that only the host itself can run: the key, its values, and the rest of a sentence that says why. */
  readonly builtIn?: readonly { key: string; values: readonly string[]; why: string }[]
  /** References in a syntax of its own, each with its replacement in ours. */
  readonly references?: readonly (readonly [pattern: RegExp, replacement: string])[]
}

/** A step of a path that stands for the path of the current workspace. */
export const workspace = '<workspace>'

/** Another name of a field. */
export function field(path: string, as: Conversion = 'same'): KeyRule {
  return { kind: 'field', field: path.split('.'), as }
}

/** A key that only concerns the host; the user is warned. */
export function ignored(why: string): KeyRule {
  return { kind: 'ignored', severity: 'warning', why: `${why}; it is ignored` }
}

/** A key that only concerns the display or the storage of the host. */
export const display: KeyRule = {
  kind: 'ignored',
  severity: 'note',
  why: 'concerns only the host; it is ignored',
}
