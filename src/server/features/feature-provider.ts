import type { Answer, ServerRequest } from '../request.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'
import type { Tasks } from '../tasks/tasks.ts'
import type { FeatureHost } from './registry.ts'

/** Which kinds of features there are, or ever were: what was declared must be answered. */
export interface Offered {
  readonly tools: boolean
  readonly resources: boolean
  readonly prompts: boolean
  readonly completions: boolean
  readonly tasks: boolean
}

/**
 * The features that requests are answered with: those registered at a server, or those of the servers
 * behind a router.
 */
export interface Offer {
  readonly offered: Offered
  /** What answers the methods that belong to features. */
  readonly methods: ReadonlyMap<string, (request: ServerRequest) => Answer>
}

/** What an offer gets of whoever makes it. */
export interface OfferHost extends FeatureHost {
  readonly tasks: Tasks
  readonly subscriptions: Subscriptions
  onError(error: unknown, request: ServerRequest): void
}

/** Makes the offer of an endpoint. Called once. */
export type MakeOffer<O extends Offer> = (host: OfferHost) => O
