import type { Id } from '../../jsonrpc/message.ts'

/** Any JSON value. A member that is `undefined` is omitted when it is written. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject

/** A JSON object whose members are JSON as well. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/**
 * An object with members that the runtime does not interpret: arguments, settings, structured content.
 */
export type Members = Readonly<Record<string, unknown>>

/** A JSON Schema that is an object. Its keywords depend on the dialect and are not typed. */
export interface JsonSchema {
  readonly $schema?: string
  readonly [keyword: string]: unknown
}

/** A JSON Schema for an object, as the arguments of a tool require. */
export interface ObjectSchema extends JsonSchema {
  readonly type: 'object'
  readonly properties?: Members
  readonly required?: readonly string[]
}

/** The author of a message, or the audience of content. */
export type Role = 'user' | 'assistant'

/** The start of the next page; opaque to the client. The empty string is a cursor. */
export type Cursor = string

/** Associates progress notifications with their request; `0` and `''` are valid tokens. */
export type ProgressToken = string | number

/** The severity of a log message, as in RFC 5424. */
export type LogLevel =
  | 'debug'
  | 'info'
  | 'notice'
  | 'warning'
  | 'error'
  | 'critical'
  | 'alert'
  | 'emergency'

/** The name and version of a client or server. Nothing may depend on it: anyone can claim any name. */
export interface Implementation {
  /** The name by which programs know it. */
  readonly name: string
  /** Its version, in any format. */
  readonly version: string
  /** The display name. */
  readonly title?: string
  /** What it does, for people. */
  readonly description?: string
  /** A page about it. */
  readonly websiteUrl?: string
  /** Icons for the user interface of the other side. */
  readonly icons?: readonly Icon[]
}

/** An icon to show beside a name. */
export interface Icon {
  /** An `https:` or `data:` URL. */
  readonly src: string
  readonly mimeType?: string
  /** `'48x48'`, or `'any'` for a scalable format. */
  readonly sizes?: readonly string[]
  /** The background it is designed for. */
  readonly theme?: 'light' | 'dark'
}

/** Hints on how to use a piece of content. */
export interface Annotations {
  readonly audience?: readonly Role[]
  /** From 0 (optional) to 1 (required). */
  readonly priority?: number
  /** An ISO 8601 time. */
  readonly lastModified?: string
}

/** The members of `_meta`: those that the protocol defines, and any others. */
export interface Meta {
  readonly progressToken?: ProgressToken
  readonly 'io.modelcontextprotocol/protocolVersion'?: string
  readonly 'io.modelcontextprotocol/clientCapabilities'?: ClientCapabilities
  readonly 'io.modelcontextprotocol/clientInfo'?: Implementation
  readonly 'io.modelcontextprotocol/logLevel'?: LogLevel
  readonly 'io.modelcontextprotocol/serverInfo'?: Implementation
  readonly 'io.modelcontextprotocol/subscriptionId'?: Id
  readonly 'io.modelcontextprotocol/related-task'?: { readonly taskId: string }
  readonly [key: string]: unknown
}

/** The capabilities of a client. An empty object means support without options. */
export interface ClientCapabilities {
  readonly roots?: { readonly listChanged?: boolean }
  readonly sampling?: { readonly context?: Members; readonly tools?: Members }
  /** Without `form` and `url` it means forms only. */
  readonly elicitation?: { readonly form?: Members; readonly url?: Members }
  readonly tasks?: {
    readonly list?: Members
    readonly cancel?: Members
    readonly requests?: {
      readonly sampling?: { readonly createMessage?: Members }
      readonly elicitation?: { readonly create?: Members }
    }
  }
  /** The settings of each extension by its prefixed name. */
  readonly extensions?: Readonly<Record<string, Members>>
  readonly experimental?: Readonly<Record<string, Members>>
}

/** The capabilities of a server. */
export interface ServerCapabilities {
  readonly tools?: { readonly listChanged?: boolean }
  readonly resources?: { readonly subscribe?: boolean; readonly listChanged?: boolean }
  readonly prompts?: { readonly listChanged?: boolean }
  readonly completions?: Members
  readonly logging?: Members
  readonly tasks?: {
    readonly list?: Members
    readonly cancel?: Members
    readonly requests?: { readonly tools?: { readonly call?: Members } }
  }
  /** The settings of each extension by its prefixed name. */
  readonly extensions?: Readonly<Record<string, Members>>
  readonly experimental?: Readonly<Record<string, Members>>
}

/** The params of every request. Stateless revisions require `_meta`. */
export interface RequestParams {
  readonly _meta?: Meta
}

/** The params of a list request: the page. */
export interface PagedParams extends RequestParams {
  readonly cursor?: Cursor
}

/** Asks to run a request as a task, in the session revisions with tasks. */
export interface TaskMetadata {
  /** How long to keep the task after its creation, in milliseconds. */
  readonly ttl?: number
}

/** The params of every notification. */
export interface NotificationParams {
  /** Data about the notification, by prefixed name. */
  readonly _meta?: Meta
}

/** The params of `notifications/cancelled`. Tasks of the session revisions need no `requestId`. */
export interface CancelledParams extends NotificationParams {
  readonly requestId?: Id
  readonly reason?: string
}

/** The params of `notifications/progress`. `progress` increases with each notification. */
export interface ProgressParams extends NotificationParams {
  readonly progressToken: ProgressToken
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/**
 * The members of every final result. `resultType` distinguishes it from input requests
 * (`'input_required'`) and from a task (`'task'`); if it is missing, the result is complete.
 */
export interface Result {
  readonly _meta?: Meta
  readonly resultType?: 'complete'
}

/** One page of a list. The last page has no `nextCursor`. */
export interface PagedResult extends Result {
  readonly nextCursor?: Cursor
}

/** How long and for whom a result may be cached. Stateless revisions define and require these members. */
export interface CacheHints {
  /** Milliseconds; 0 means that it is stale at once. */
  readonly ttlMs?: number
  /** `'private'` results are never shared between authorization contexts. */
  readonly cacheScope?: 'public' | 'private'
}
