import type { RpcNotification, RpcRequest } from '../jsonrpc/message.ts'
import type { PeerOptions } from '../jsonrpc/peer/options.ts'
import type { Profile, ProfileName } from '../mcp/profile.ts'
import type { Icon, Members } from '../mcp/types/base.ts'
import type { ServerCache } from './core/cache-hints.ts'
import type { TaskOptions } from './tasks/tasks.ts'

/** What a server is called, and what it has to say to whoever connects. */
export interface ServerInfo {
  readonly name: string
  readonly version: string
  readonly title?: string
  readonly description?: string
  readonly websiteUrl?: string
  readonly icons?: readonly Icon[]
  /** How to use it, for the model on the other side. */
  readonly instructions?: string
}

export interface ServerOptions {
  /** The choices the protocol leaves open; `'mcp'` unless said otherwise. */
  readonly profile?: ProfileName | Profile
  /** The dates of the revisions it serves; all of them unless said otherwise. */
  readonly revisions?: readonly string[]
  /** Entries on one page of a list. */
  readonly pageSize?: number
  /** How long lists and resources may be kept by whoever read them, where a revision can say so. */
  readonly cache?: ServerCache
  /** Settings of extensions by their prefixed names, declared where a revision has extensions. */
  readonly extensions?: Readonly<Record<string, Members>>
  /** Capabilities that are no part of the protocol, by name. */
  readonly experimental?: Readonly<Record<string, Members>>
  /**
   * Secrets of at least 32 random bytes that protect what clients keep for the server. The first one
   * seals, all of them open. Processes behind one address need the same ones; by default a random one.
   */
  readonly keys?: readonly Uint8Array[]
  /** How tasks are kept: where, how long, how many. */
  readonly tasks?: TaskOptions
  /** Told everything that went wrong inside and that the other side is not told. */
  readonly onError?: (error: unknown, message?: RpcRequest | RpcNotification) => void
  /** Limits of each connection. */
  readonly peer?: PeerOptions
}
