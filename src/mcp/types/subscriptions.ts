import type { NotificationParams, RequestParams } from './base.ts'

/** The changes that a client subscribes to. A missing member means no subscription. */
export interface SubscriptionFilter {
  readonly toolsListChanged?: boolean
  readonly promptsListChanged?: boolean
  readonly resourcesListChanged?: boolean
  /** The URIs of the resources whose updates are sent. */
  readonly resourceSubscriptions?: readonly string[]
  /** The ids of the tasks whose changes are sent, if the tasks extension is declared. */
  readonly taskIds?: readonly string[]
}

/** The params of `subscriptions/listen`, in stateless revisions. */
export interface ListenParams extends RequestParams {
  readonly notifications: SubscriptionFilter
}

/**
 * The params of `notifications/subscriptions/acknowledged`: the part of the filter that the server
 * accepts.
 */
export interface AcknowledgedParams extends NotificationParams {
  readonly notifications: SubscriptionFilter
}
