import type { RpcNotification, RpcRequest } from '../jsonrpc/message.ts'
import type { PeerOptions } from '../jsonrpc/peer/options.ts'
import type { Profile, ProfileName } from '../mcp/profile.ts'
import type { Icon, Members } from '../mcp/types/base.ts'
import type { ServerCache } from './core/cache-hints.ts'
import type { TaskOptions } from './tasks/registry.ts'

/** The identity of a server, as clients see it. */
export interface ServerInfo {
  readonly name: string
  readonly version: string
  readonly title?: string
  readonly description?: string
  readonly websiteUrl?: string
  readonly icons?: readonly Icon[]
  /** How to use the server, for the client's model. */
  readonly instructions?: string
}

/** The options of a server. */
export interface ServerOptions {
  /** The choices that the protocol leaves open; `'mcp'` by default. */
  readonly profile?: ProfileName | Profile
  /** The names (dates) of the revisions that it serves; all of them by default. */
  readonly revisions?: readonly string[]
  /** The number of entries on one page of a list. */
  readonly pageSize?: number
  /** How long clients may cache lists and resources, in revisions that have cache hints. */
  readonly cache?: ServerCache
  /** Settings of extensions by their prefixed names, declared in revisions that have extensions. */
  readonly extensions?: Readonly<Record<string, Members>>
  /** Capabilities that are not part of the protocol, by name. */
  readonly experimental?: Readonly<Record<string, Members>>
  /**
   * Secrets of at least 32 random bytes that protect the state that clients keep for the server, and the
   * cursors of lists. The first one seals, all of them open. Processes behind one address need the same
   * keys; by default one random key.
   */
  readonly keys?: readonly Uint8Array[]
  /** How tasks are stored: where, how long, how many. */
  readonly tasks?: TaskOptions
  /** Receives internal errors, which clients do not see. */
  readonly onError?: (error: unknown, message?: RpcRequest | RpcNotification) => void
  /** Limits of each connection. */
  readonly peer?: PeerOptions
}
