import type { RpcNotification, RpcRequest } from '../jsonrpc/message.ts'
import type { PeerOptions } from '../jsonrpc/peer/options.ts'
import type { Profile, ProfileName } from '../mcp/profile.ts'
import type { RevisionName } from '../mcp/revisions/revisions.ts'
import type { Icon, Members } from '../mcp/types/base.ts'
import type { SealingKeys } from '../util/crypto/keys.ts'
import type { ServerCache } from './core/cache-hints.ts'
import type { ContextFactory } from './core/request-scope.ts'
import type { TaskOptions } from './tasks/registry.ts'

/** The identity of a server, as clients see it. */
export interface ServerInfo {
  /** The name by which programs know the server. */
  readonly name: string
  /** The version of the server. */
  readonly version: string
  /** The display name, for people. */
  readonly title?: string
  /** What the server offers, for people. */
  readonly description?: string
  /** A page about the server. */
  readonly websiteUrl?: string
  /** Icons for the user interface of hosts. */
  readonly icons?: readonly Icon[]
  /** How to use the server, for the client's model. */
  readonly instructions?: string
}

/**
 * The options of a server. `Env` is the type of what `context` returns, which handlers get as `ctx.env`.
 */
export interface ServerOptions<Env = unknown> {
  /** The choices that the protocol leaves open; `'mcp'` by default. */
  readonly profile?: ProfileName | Profile
  /** The dates of the protocol revisions that it serves, such as `'2025-11-25'`; all of them by default. */
  readonly revisions?: readonly RevisionName[]
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
   * keys; by default one random key. The nodes of a cluster share a ring of keys: see `sharedKeys` of
   * `trunkline/cluster`.
   */
  readonly keys?: SealingKeys
  /** How tasks are stored: where, how long, how many. */
  readonly tasks?: TaskOptions
  /**
   * Makes what handlers get as `ctx.env`, once per request: a tenant, a database handle, the plan of a user.
   * It is called for requests of tools, resources, prompts and methods of your own, before the handler and
   * the middlewares of `around`. An RpcError that it throws answers the request; anything else becomes
   * "Internal error".
   */
  readonly context?: ContextFactory<Env>
  /** Receives internal errors, which clients do not see. */
  readonly onError?: (error: unknown, message?: RpcRequest | RpcNotification) => void
  /** Limits of each connection. */
  readonly peer?: PeerOptions
}
