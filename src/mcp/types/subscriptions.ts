import type { NotificationParams, RequestParams } from './base.ts'

/** Which changes are to be told. What is absent is not wanted. */
export interface SubscriptionFilter {
  readonly toolsListChanged?: boolean
  readonly promptsListChanged?: boolean
  readonly resourcesListChanged?: boolean
  /** The addresses whose updates are wanted. */
  readonly resourceSubscriptions?: readonly string[]
  /** The tasks whose changes are wanted, where the tasks extension is declared. */
  readonly taskIds?: readonly string[]
}

/** The params of `subscriptions/listen`, in stateless revisions. */
export interface ListenParams extends RequestParams {
  readonly notifications: SubscriptionFilter
}

/** The params of `notifications/subscriptions/acknowledged`: what will be told of what was wanted. */
export interface AcknowledgedParams extends NotificationParams {
  readonly notifications: SubscriptionFilter
}
