import type { Caller } from '../../mcp/caller.ts'
import type { HandlerResult, IncomingRequest } from '../request.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'
import type { Tasks } from '../tasks/tasks.ts'
import type { ListHost } from './lists.ts'

/**
 * The kinds of features that exist or ever existed. A kind stays available once it was, because clients
 * keep the capabilities that they were given.
 */
export interface AvailableFeatures {
  readonly tools: boolean
  readonly resources: boolean
  readonly prompts: boolean
  readonly completions: boolean
  readonly tasks: boolean
  /** The settings of the skills extension; undefined if there are no skills. */
  readonly skills: { readonly directoryRead?: boolean } | undefined
}

/** The features that answer requests: those registered at a server, or those of upstream servers. */
export interface FeatureProvider {
  readonly available: AvailableFeatures
  /** The handlers of the methods that belong to features, by the name of the method. */
  readonly methods: ReadonlyMap<string, (request: IncomingRequest) => HandlerResult>
  /** Whether the caller of a request may subscribe to a resource; absent where every caller may. */
  isVisible?(uri: string, request: IncomingRequest): boolean | Promise<boolean>
  /**
   * Whether a caller may still use the tool of its task; absent where every caller may. Throws an RpcError if the
   * caller lacks scopes.
   */
  mayUseTask?(tool: string, caller: Caller): boolean
}

/** What a feature provider needs from its endpoint. */
export interface ProviderHost extends ListHost {
  readonly tasks: Tasks
  readonly subscriptions: Subscriptions
  /** The longest description of a tool, in characters. */
  readonly maxToolDescription: number
}

/** Creates the feature provider of an endpoint. Called once. */
export type MakeProvider<P extends FeatureProvider> = (host: ProviderHost) => P
