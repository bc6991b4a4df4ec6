import type { CacheHints, Icon, Meta, PagedResult, Result, Role } from './base.ts'
import type { Content } from './content.ts'
import type { RetryParams } from './input.ts'

/** A prompt as it is listed. */
export interface Prompt {
  readonly name: string
  /** The name for people. */
  readonly title?: string
  readonly description?: string
  readonly arguments?: readonly PromptArgument[]
  readonly icons?: readonly Icon[]
  readonly _meta?: Meta
}

/** What a prompt wants to know. */
export interface PromptArgument {
  readonly name: string
  /** The name for people. */
  readonly title?: string
  readonly description?: string
  readonly required?: boolean
}

/** One message of the conversation that a prompt begins. */
export interface PromptMessage {
  readonly role: Role
  readonly content: Content
}

/** The answer to `prompts/list`. */
export interface ListPromptsResult extends PagedResult, CacheHints {
  readonly prompts: readonly Prompt[]
}

/** The params of `prompts/get`. */
export interface GetPromptParams extends RetryParams {
  readonly name: string
  readonly arguments?: Readonly<Record<string, string>>
}

/** The answer to `prompts/get`. */
export interface GetPromptResult extends Result {
  readonly description?: string
  readonly messages: readonly PromptMessage[]
}
