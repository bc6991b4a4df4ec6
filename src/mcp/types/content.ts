import type { Annotations, Icon, Members, Meta } from './base.ts'

/** The members that every content block may have. */
interface Block {
  readonly annotations?: Annotations
  readonly _meta?: Meta
}

/** A text block. */
export interface TextContent extends Block {
  readonly type: 'text'
  readonly text: string
}

/** An image block. */
export interface ImageContent extends Block {
  readonly type: 'image'
  /** Base64. */
  readonly data: string
  readonly mimeType: string
}

/** An audio block. */
export interface AudioContent extends Block {
  readonly type: 'audio'
  /** Base64. */
  readonly data: string
  readonly mimeType: string
}

/** A link to a resource that can be read by its URI. The resource need not be in the server's list. */
export interface ResourceLink extends Block {
  readonly type: 'resource_link'
  readonly uri: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  /** In bytes, before any encoding. */
  readonly size?: number
  readonly icons?: readonly Icon[]
}

/** A resource that is embedded in the message. */
export interface EmbeddedResource extends Block {
  readonly type: 'resource'
  readonly resource: ResourceContents
}

/** A content block of a tool result or of a prompt message. */
export type Content = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource

/** The contents of a text resource. */
export interface TextResourceContents {
  readonly uri: string
  readonly mimeType?: string
  readonly text: string
  readonly _meta?: Meta
}

/** The contents of a binary resource. */
export interface BlobResourceContents {
  readonly uri: string
  readonly mimeType?: string
  /** Base64. */
  readonly blob: string
  readonly _meta?: Meta
}

/** The contents of a resource, as text or as bytes. */
export type ResourceContents = TextResourceContents | BlobResourceContents

/** A request of a model to call a tool. */
export interface ToolUseContent {
  readonly type: 'tool_use'
  /** Repeated as `toolUseId` of the result. */
  readonly id: string
  readonly name: string
  readonly input: Members
  readonly _meta?: Meta
}

/** The result of a tool call that a model requested. */
export interface ToolResultContent {
  readonly type: 'tool_result'
  readonly toolUseId: string
  readonly content: readonly Content[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly _meta?: Meta
}

/** A content block of a message to or from a model. */
export type SamplingContent =
  | TextContent
  | ImageContent
  | AudioContent
  | ToolUseContent
  | ToolResultContent
