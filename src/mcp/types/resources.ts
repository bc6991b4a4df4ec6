import type {
  Annotations,
  CacheHints,
  Icon,
  Meta,
  NotificationParams,
  PagedResult,
  RequestParams,
  Result,
} from './base.ts'
import type { ResourceContents } from './content.ts'
import type { RetryParams } from './input.ts'

export type { ResourceContents } from './content.ts'

/** A resource, as listed by a server. */
export interface Resource {
  readonly uri: string
  readonly name: string
  /** The display name. */
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  /** In bytes, before any encoding. */
  readonly size?: number
  readonly annotations?: Annotations
  readonly icons?: readonly Icon[]
  readonly _meta?: Meta
}

/** A resource template, as listed by a server. */
export interface ResourceTemplate {
  /** A URI template of RFC 6570. */
  readonly uriTemplate: string
  readonly name: string
  /** The display name. */
  readonly title?: string
  readonly description?: string
  /** The media type, if it is the same for all matching resources. */
  readonly mimeType?: string
  readonly annotations?: Annotations
  readonly icons?: readonly Icon[]
  readonly _meta?: Meta
}

/** The result of `resources/list`. */
export interface ListResourcesResult extends PagedResult, CacheHints {
  readonly resources: readonly Resource[]
}

/** The result of `resources/templates/list`. */
export interface ListResourceTemplatesResult extends PagedResult, CacheHints {
  readonly resourceTemplates: readonly ResourceTemplate[]
}

/** The params of `resources/read`. */
export interface ReadResourceParams extends RetryParams {
  readonly uri: string
}

/** The result of `resources/read`: several contents if the URI stands for several, such as a folder. */
export interface ReadResourceResult extends Result, CacheHints {
  readonly contents: readonly ResourceContents[]
}

/** The params of `resources/subscribe` and `resources/unsubscribe`, in session revisions. */
export interface SubscribeParams extends RequestParams {
  readonly uri: string
}

/** The params of `notifications/resources/updated`. The URI may be below the subscribed one. */
export interface ResourceUpdatedParams extends NotificationParams {
  readonly uri: string
}
