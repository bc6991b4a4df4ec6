import type { Id } from '../../jsonrpc/message.ts'

/** Whatever JSON can say. A member that is `undefined` is left out when it is written. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject

/** A JSON object whose members are JSON as well. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** An object with members that nobody here looks into: arguments, settings, structured content. */
export type Members = Readonly<Record<string, unknown>>

/** A JSON Schema that is an object. Keywords are not checked here: the dialect is its author's. */
export interface JsonSchema {
  readonly $schema?: string
  readonly [keyword: string]: unknown
}

/** A JSON Schema for an object, as a tool's arguments have to be. */
export interface ObjectSchema extends JsonSchema {
  readonly type: 'object'
  readonly properties?: Members
  readonly required?: readonly string[]
}

/** Who speaks, or whom something is meant for. */
export type Role = 'user' | 'assistant'

/** Where the next page begins; opaque to the client. The empty string is a cursor. */
export type Cursor = string

/** What ties progress notifications to their request; `0` and `''` are tokens. */
export type ProgressToken = string | number

/** How grave a log message is, as in RFC 5424. */
export type LogLevel =
  | 'debug'
  | 'info'
  | 'notice'
  | 'warning'
  | 'error'
  | 'critical'
  | 'alert'
  | 'emergency'

/** What a client or server is called. Nothing may be decided by it: anyone can claim any name. */
export interface Implementation {
  readonly name: string
  readonly version: string
  /** The name for people. */
  readonly title?: string
  readonly description?: string
  readonly websiteUrl?: string
  readonly icons?: readonly Icon[]
}

/** A picture to show beside a name. */
export interface Icon {
  /** An `https:` or `data:` address. */
  readonly src: string
  readonly mimeType?: string
  /** `'48x48'`, or `'any'` where it scales. */
  readonly sizes?: readonly string[]
  /** The background it is made for. */
  readonly theme?: 'light' | 'dark'
}

/** Hints on how a piece of content is to be used. */
export interface Annotations {
  readonly audience?: readonly Role[]
  /** From 0, which is optional, to 1, which is required. */
  readonly priority?: number
  /** An ISO 8601 time. */
  readonly lastModified?: string
}

/** What travels in `_meta`: the members the protocol knows, and anybody's own beside them. */
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

/** What a client can do when it is asked. An empty object means "yes, without further options". */
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

/** What a server has to offer. */
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

/** What every request may carry. Stateless revisions require `_meta`. */
export interface RequestParams {
  readonly _meta?: Meta
}

/** The params of a list: which page. */
export interface PagedParams extends RequestParams {
  readonly cursor?: Cursor
}

/** The wish that a request become a task, in the session revisions that have tasks. */
export interface TaskMetadata {
  /** How long the task is wanted after its creation, in milliseconds. */
  readonly ttl?: number
}

/** What every notification may carry. */
export interface NotificationParams {
  readonly _meta?: Meta
}

/** The params of `notifications/cancelled`. Tasks of the session revisions need no `requestId`. */
export interface CancelledParams extends NotificationParams {
  readonly requestId?: Id
  readonly reason?: string
}

/** The params of `notifications/progress`. `progress` grows from one to the next. */
export interface ProgressParams extends NotificationParams {
  readonly progressToken: ProgressToken
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/**
 * What every final result may carry. `resultType` tells it from a question (`'input_required'`) and
 * from a task (`'task'`); where it is absent the result is complete.
 */
export interface Result {
  readonly _meta?: Meta
  readonly resultType?: 'complete'
}

/** One page of a list. Without `nextCursor` it is the last one. */
export interface PagedResult extends Result {
  readonly nextCursor?: Cursor
}

/** How long a result may be kept, and for whom. Only stateless revisions know them, and require them. */
export interface CacheHints {
  /** Milliseconds; 0 means that it is stale at once. */
  readonly ttlMs?: number
  /** `'private'` results are never shown to another authorization. */
  readonly cacheScope?: 'public' | 'private'
}
