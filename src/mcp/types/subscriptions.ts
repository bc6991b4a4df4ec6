import type { NotificationParams, RequestParams } from './base.ts'

/** The changes that a client subscribes to. A missing member means no subscription. */
export interface SubscriptionFilter {
  /** Whether changes of the list of tools are sent. */
  readonly toolsListChanged?: boolean
  /** Whether changes of the list of prompts are sent. */
  readonly promptsListChanged?: boolean
  /** Whether changes of the list of resources are sent. */
  readonly resourcesListChanged?: boolean
  /** The URIs of the resources whose updates are sent. */
  readonly resourceSubscriptions?: readonly string[]
  /** The ids of the tasks whose changes are sent, if the tasks extension is declared. */
  readonly taskIds?: readonly string[]
}

/** The params of `subscriptions/listen`, in stateless revisions. */
export interface ListenParams extends RequestParams {
  /** The changes to send. */
  readonly notifications: SubscriptionFilter
}

/**
 * The params of `notifications/subscriptions/acknowledged`: the part of the filter that the server
 * accepts.
 */
export interface AcknowledgedParams extends NotificationParams {
  /** The changes that the server sends. */
  readonly notifications: SubscriptionFilter
}
