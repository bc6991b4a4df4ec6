import type { Annotations, Icon, Members, Meta } from './base.ts'

/** The members that every content block may have. */
export interface ContentMembers {
  /** Hints: the audience, the priority, and when it changed last. */
  readonly annotations?: Annotations
  /** Metadata, by names that have a prefix. */
  readonly _meta?: Meta
}

/** A text block. */
export interface TextContent extends ContentMembers {
  readonly type: 'text'
  /** The text. */
  readonly text: string
}

/** An image block. */
export interface ImageContent extends ContentMembers {
  readonly type: 'image'
  /** Base64. */
  readonly data: string
  /** The media type, such as `text/plain`. */
  readonly mimeType: string
}

/** An audio block. */
export interface AudioContent extends ContentMembers {
  readonly type: 'audio'
  /** Base64. */
  readonly data: string
  /** The media type, such as `text/plain`. */
  readonly mimeType: string
}

/** A link to a resource that can be read by its URI. The resource need not be in the server's list. */
export interface ResourceLink extends ContentMembers {
  readonly type: 'resource_link'
  /** The URI of the resource. */
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
  /** Icons for the user interface of hosts. */
  readonly icons?: readonly Icon[]
}

/** A resource that is embedded in the message. */
export interface EmbeddedResource extends ContentMembers {
  readonly type: 'resource'
  /** The contents of the resource. */
  readonly resource: ResourceContents
}

/** A content block of a tool result or of a prompt message. */
export type Content = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource

/** The contents of a text resource. */
export interface TextResourceContents {
  /** The URI of the resource. */
  readonly uri: string
  /** The media type, such as `text/plain`. */
  readonly mimeType?: string
  /** The text. */
  readonly text: string
  /** Metadata, by names that have a prefix. */
  readonly _meta?: Meta
}

/** The contents of a binary resource. */
export interface BlobResourceContents {
  /** The URI of the resource. */
  readonly uri: string
  /** The media type, such as `text/plain`. */
  readonly mimeType?: string
  /** Base64. */
  readonly blob: string
  /** Metadata, by names that have a prefix. */
  readonly _meta?: Meta
}

/** The contents of a resource, as text or as bytes. */
export type ResourceContents = TextResourceContents | BlobResourceContents

/** A request of a model to call a tool. */
export interface ToolUseContent {
  readonly type: 'tool_use'
  /** Repeated as `toolUseId` of the result. */
  readonly id: string
  /** The name of the tool. */
  readonly name: string
  /** The arguments. */
  readonly input: Members
  /** Metadata, by names that have a prefix. */
  readonly _meta?: Meta
}

/** The result of a tool call that a model requested. */
export interface ToolResultContent {
  readonly type: 'tool_result'
  /** The id of the request that it answers. */
  readonly toolUseId: string
  /** What the model reads. */
  readonly content: readonly Content[]
  /** The structured result, if the tool has one. */
  readonly structuredContent?: unknown
  /** Whether the tool failed. */
  readonly isError?: boolean
  /** Metadata, by names that have a prefix. */
  readonly _meta?: Meta
}

/** A content block of a message to or from a model. */
export type SamplingContent =
  | TextContent
  | ImageContent
  | AudioContent
  | ToolUseContent
  | ToolResultContent
