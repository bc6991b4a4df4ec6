import type { CacheHints, Members, PagedResult, Result, TaskMetadata } from './base.ts'
import type { Content } from './content.ts'
import type { RetryParams } from './input.ts'
import type { Tool } from './tool-definition.ts'

export type { Tool, ToolAnnotations, ToolExecution } from './tool-definition.ts'

/** The result of `tools/list`. */
export interface ListToolsResult extends PagedResult, CacheHints {
  /** The tools on this page. */
  readonly tools: readonly Tool[]
}

/** The params of `tools/call`. */
export interface CallToolParams extends RetryParams {
  /** The name of the tool. */
  readonly name: string
  /** The arguments, which fit the input schema of the tool. */
  readonly arguments?: Members
  /** Asks to run the call as a task, in session revisions with tasks. */
  readonly task?: TaskMetadata
}

/**
 * The result of `tools/call`. A failure of the tool itself is a result too, with `isError`. `Structured` is
 * the type of the structured content.
 */
export interface CallToolResult<Structured = unknown> extends Result {
  /** What the model reads: text, images, audio, links and resources. */
  readonly content: readonly Content[]
  /**
   * Conforms to the tool's output schema. An object in session revisions, any JSON value in later ones.
   */
  readonly structuredContent?: Structured
  /** Whether the tool failed; `content` says why. */
  readonly isError?: boolean
}
