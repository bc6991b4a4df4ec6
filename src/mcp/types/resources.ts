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

export type {
  BlobResourceContents,
  ResourceContents,
  TextResourceContents,
} from './content.ts'

/** A resource as it is listed. */
export interface Resource {
  readonly uri: string
  readonly name: string
  /** The name for people. */
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  /** In bytes, before any encoding. */
  readonly size?: number
  readonly annotations?: Annotations
  readonly icons?: readonly Icon[]
  readonly _meta?: Meta
}

/** A family of resources, as it is listed. */
export interface ResourceTemplate {
  /** As in RFC 6570. */
  readonly uriTemplate: string
  readonly name: string
  /** The name for people. */
  readonly title?: string
  readonly description?: string
  /** Only where all of the family have the same. */
  readonly mimeType?: string
  readonly annotations?: Annotations
  readonly icons?: readonly Icon[]
  readonly _meta?: Meta
}

/** The answer to `resources/list`. */
export interface ListResourcesResult extends PagedResult, CacheHints {
  readonly resources: readonly Resource[]
}

/** The answer to `resources/templates/list`. */
export interface ListResourceTemplatesResult extends PagedResult, CacheHints {
  readonly resourceTemplates: readonly ResourceTemplate[]
}

/** The params of `resources/read`. */
export interface ReadResourceParams extends RetryParams {
  readonly uri: string
}

/** What was read: more than one where the address stands for several, such as a folder. */
export interface ReadResourceResult extends Result, CacheHints {
  readonly contents: readonly ResourceContents[]
}

/** The params of `resources/subscribe` and `resources/unsubscribe`, in session revisions. */
export interface SubscribeParams extends RequestParams {
  readonly uri: string
}

/** The params of `notifications/resources/updated`. The address may lie below the one asked for. */
export interface ResourceUpdatedParams extends NotificationParams {
  readonly uri: string
}
