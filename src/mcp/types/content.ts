import type { Annotations, Icon, Members, Meta } from './base.ts'

/** What every block of content may carry. */
interface Block {
  readonly annotations?: Annotations
  readonly _meta?: Meta
}

/** A text. */
export interface TextContent extends Block {
  readonly type: 'text'
  readonly text: string
}

/** A picture. */
export interface ImageContent extends Block {
  readonly type: 'image'
  /** Base64. */
  readonly data: string
  readonly mimeType: string
}

/** A recording. */
export interface AudioContent extends Block {
  readonly type: 'audio'
  /** Base64. */
  readonly data: string
  readonly mimeType: string
}

/** A resource that can be read by its address. It need not be in the server's list. */
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

/** A resource that travels with the message. */
export interface EmbeddedResource extends Block {
  readonly type: 'resource'
  readonly resource: ResourceContents
}

/** A block of content in a tool's result or in a prompt's message. */
export type Content = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource

/** What a resource holds, where that is text. */
export interface TextResourceContents {
  readonly uri: string
  readonly mimeType?: string
  readonly text: string
  readonly _meta?: Meta
}

/** What a resource holds, where that is bytes. */
export interface BlobResourceContents {
  readonly uri: string
  readonly mimeType?: string
  /** Base64. */
  readonly blob: string
  readonly _meta?: Meta
}

/** What a resource holds, as text or as bytes. */
export type ResourceContents = TextResourceContents | BlobResourceContents

/** A model's wish to have a tool called. */
export interface ToolUseContent {
  readonly type: 'tool_use'
  /** Comes back as `toolUseId` of the result. */
  readonly id: string
  readonly name: string
  readonly input: Members
  readonly _meta?: Meta
}

/** What a tool gave, told to the model that wanted it. */
export interface ToolResultContent {
  readonly type: 'tool_result'
  readonly toolUseId: string
  readonly content: readonly Content[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly _meta?: Meta
}

/** A block of content in a conversation with a model. */
export type SamplingContent =
  | TextContent
  | ImageContent
  | AudioContent
  | ToolUseContent
  | ToolResultContent
