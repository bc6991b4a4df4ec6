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
  /** The URI by which clients read it. */
  readonly uri: string
  /** The name by which programs know it. */
  readonly name: string
  /** The display name. */
  readonly title?: string
  /** What it contains, for the model. */
  readonly description?: string
  /** The media type, such as `text/plain`. */
  readonly mimeType?: string
  /** In bytes, before any encoding. */
  readonly size?: number
  /** Hints: the audience, the priority, and when it changed last. */
  readonly annotations?: Annotations
  /** Icons for the user interface of hosts. */
  readonly icons?: readonly Icon[]
  /** Metadata, by names that have a prefix. */
  readonly _meta?: Meta
}

/** A resource template, as listed by a server. */
export interface ResourceTemplate {
  /** A URI template of RFC 6570. */
  readonly uriTemplate: string
  /** The name by which programs know it. */
  readonly name: string
  /** The display name. */
  readonly title?: string
  /** What its resources contain, for the model. */
  readonly description?: string
  /** The media type, if it is the same for all matching resources. */
  readonly mimeType?: string
  /** Hints: the audience, the priority, and when it changed last. */
  readonly annotations?: Annotations
  /** Icons for the user interface of hosts. */
  readonly icons?: readonly Icon[]
  /** Metadata, by names that have a prefix. */
  readonly _meta?: Meta
}

/** The result of `resources/list`. */
export interface ListResourcesResult extends PagedResult, CacheHints {
  /** The resources on this page. */
  readonly resources: readonly Resource[]
}

/** The result of `resources/templates/list`. */
export interface ListResourceTemplatesResult extends PagedResult, CacheHints {
  /** The templates on this page. */
  readonly resourceTemplates: readonly ResourceTemplate[]
}

/** The params of `resources/read`. */
export interface ReadResourceParams extends RetryParams {
  /** The URI of the resource. */
  readonly uri: string
}

/** The result of `resources/read`: several contents if the URI stands for several, such as a folder. */
export interface ReadResourceResult extends Result, CacheHints {
  /** The contents. */
  readonly contents: readonly ResourceContents[]
}

/** The params of `resources/subscribe` and `resources/unsubscribe`, in session revisions. */
export interface SubscribeParams extends RequestParams {
  /** The URI of the resource. */
  readonly uri: string
}

/** The params of `notifications/resources/updated`. The URI may be below the subscribed one. */
export interface ResourceUpdatedParams extends NotificationParams {
  /** The URI of the resource. */
  readonly uri: string
}
