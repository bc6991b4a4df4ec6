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
  /** The dialect; 2020-12 by default. */
  readonly $schema?: string
  readonly [keyword: string]: unknown
}

/** A JSON Schema for an object, as the arguments of a tool require. */
export interface ObjectSchema extends JsonSchema {
  readonly type: 'object'
  /** The schemas of the members, by name. */
  readonly properties?: Members
  /** The names of the members that must be present. */
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
  /** The media type of the image, where `src` does not show it. */
  readonly mimeType?: string
  /** `'48x48'`, or `'any'` for a scalable format. */
  readonly sizes?: readonly string[]
  /** The background it is designed for. */
  readonly theme?: 'light' | 'dark'
}

/** Hints on how to use a piece of content. */
export interface Annotations {
  /** Whom the content is for; for both without it. */
  readonly audience?: readonly Role[]
  /** From 0 (optional) to 1 (required). */
  readonly priority?: number
  /** An ISO 8601 time. */
  readonly lastModified?: string
}

/** The members of `_meta`: those that the protocol defines, and any others. */
export interface Meta {
  /** Asks for progress notifications with this token. */
  readonly progressToken?: ProgressToken
  /** The revision of a stateless request. */
  readonly 'io.modelcontextprotocol/protocolVersion'?: string
  /** The features of the client of a stateless request. */
  readonly 'io.modelcontextprotocol/clientCapabilities'?: ClientCapabilities
  /** The name and version of the client of a stateless request. */
  readonly 'io.modelcontextprotocol/clientInfo'?: Implementation
  /** The least severe level of log messages that a stateless request asks for. */
  readonly 'io.modelcontextprotocol/logLevel'?: LogLevel
  /** The name and version of the server, in stateless results. */
  readonly 'io.modelcontextprotocol/serverInfo'?: Implementation
  /** The id of the `subscriptions/listen` request that a notification belongs to. */
  readonly 'io.modelcontextprotocol/subscriptionId'?: Id
  /** The task that a message belongs to, in session revisions. */
  readonly 'io.modelcontextprotocol/related-task'?: {
    /** The id of the task. */
    readonly taskId: string
  }
  readonly [key: string]: unknown
}

/** The capabilities of a client. An empty object means support without options. */
export interface ClientCapabilities {
  /** It tells the server which directories and files it may work in. */
  readonly roots?: {
    /** Whether it notifies the server when they change. */
    readonly listChanged?: boolean
  }
  /** It runs a model for the server. */
  readonly sampling?: {
    /** The prompt can include context of other servers. */
    readonly context?: Members
    /** The model can use tools that the server defines. */
    readonly tools?: Members
  }
  /** It asks the user for the server. Without `form` and `url` it means forms only. */
  readonly elicitation?: {
    /** By forms. */
    readonly form?: Members
    /** On web pages. */
    readonly url?: Members
  }
  /** It answers requests as tasks, in session revisions. */
  readonly tasks?: {
    /** It lists its tasks. */
    readonly list?: Members
    /** It cancels its tasks. */
    readonly cancel?: Members
    /** The requests that can become tasks. */
    readonly requests?: {
      /** Sampling. */
      readonly sampling?: {
        /** `sampling/createMessage`. */
        readonly createMessage?: Members
      }
      /** Elicitation. */
      readonly elicitation?: {
        /** `elicitation/create`. */
        readonly create?: Members
      }
    }
  }
  /** The settings of each extension by its prefixed name. */
  readonly extensions?: Readonly<Record<string, Members>>
  /** Capabilities that are not part of the protocol, by name. */
  readonly experimental?: Readonly<Record<string, Members>>
}

/** The capabilities of a server. */
export interface ServerCapabilities {
  /** It has tools. */
  readonly tools?: {
    /** Whether it notifies clients when the list changes. */
    readonly listChanged?: boolean
  }
  /** It has resources. */
  readonly resources?: {
    /** Whether clients can subscribe to changes of a resource. */
    readonly subscribe?: boolean
    /** Whether it notifies clients when the list changes. */
    readonly listChanged?: boolean
  }
  /** It has prompts. */
  readonly prompts?: {
    /** Whether it notifies clients when the list changes. */
    readonly listChanged?: boolean
  }
  /** It suggests values for arguments. */
  readonly completions?: Members
  /** It sends log messages. */
  readonly logging?: Members
  /** It answers requests as tasks, in session revisions. */
  readonly tasks?: {
    /** It lists its tasks. */
    readonly list?: Members
    /** It cancels its tasks. */
    readonly cancel?: Members
    /** The requests that can become tasks. */
    readonly requests?: {
      /** Tools. */
      readonly tools?: {
        /** `tools/call`. */
        readonly call?: Members
      }
    }
  }
  /** The settings of each extension by its prefixed name. */
  readonly extensions?: Readonly<Record<string, Members>>
  /** Capabilities that are not part of the protocol, by name. */
  readonly experimental?: Readonly<Record<string, Members>>
}

/** The params of every request. Stateless revisions require `_meta`. */
export interface RequestParams {
  /** Metadata, by names that have a prefix. */
  readonly _meta?: Meta
}

/** The params of a list request: the page. */
export interface PagedParams extends RequestParams {
  /** Where the page starts; the first page without it. */
  readonly cursor?: Cursor
}

/** Asks to run a request as a task, in the session revisions with tasks. */
export interface TaskMetadata {
  /** How long to keep the task after its creation, in milliseconds. */
  readonly ttl?: number
}

/** The params of every notification. */
export interface NotificationParams {
  /** Metadata, by names that have a prefix. */
  readonly _meta?: Meta
}

/** The params of `notifications/cancelled`. Tasks of the session revisions need no `requestId`. */
export interface CancelledParams extends NotificationParams {
  /** The request that is cancelled. */
  readonly requestId?: Id
  /** Why, for logs. */
  readonly reason?: string
}

/** The params of `notifications/progress`. `progress` increases with each notification. */
export interface ProgressParams extends NotificationParams {
  /** The token of the request that makes progress. */
  readonly progressToken: ProgressToken
  /** How far it is. */
  readonly progress: number
  /** How far it will get, if that is known. */
  readonly total?: number
  /** What is happening, for people. */
  readonly message?: string
}

/**
 * The members of every final result. `resultType` distinguishes it from input requests
 * (`'input_required'`) and from a task (`'task'`); if it is missing, the result is complete.
 */
export interface Result {
  /** Metadata, by names that have a prefix. */
  readonly _meta?: Meta
  readonly resultType?: 'complete'
}

/** One page of a list. The last page has no `nextCursor`. */
export interface PagedResult extends Result {
  /** Where the next page starts. */
  readonly nextCursor?: Cursor
}

/** How long and for whom a result may be cached. Stateless revisions define and require these members. */
export interface CacheHints {
  /** Milliseconds; 0 means that it is stale at once. */
  readonly ttlMs?: number
  /** `'private'` results are never shared between authorization contexts. */
  readonly cacheScope?: 'public' | 'private'
}
