import type { CacheHints, Icon, Meta, PagedResult, Result, Role } from './base.ts'
import type { Content } from './content.ts'
import type { RetryParams } from './input.ts'

/** A prompt, as listed by a server. */
export interface Prompt {
  readonly name: string
  /** The display name. */
  readonly title?: string
  readonly description?: string
  readonly arguments?: readonly PromptArgument[]
  readonly icons?: readonly Icon[]
  readonly _meta?: Meta
}

/** An argument of a prompt. */
export interface PromptArgument {
  readonly name: string
  /** The display name. */
  readonly title?: string
  readonly description?: string
  readonly required?: boolean
}

/** One message of a prompt. */
export interface PromptMessage {
  readonly role: Role
  readonly content: Content
}

/** The result of `prompts/list`. */
export interface ListPromptsResult extends PagedResult, CacheHints {
  readonly prompts: readonly Prompt[]
}

/** The params of `prompts/get`. */
export interface GetPromptParams extends RetryParams {
  readonly name: string
  readonly arguments?: Readonly<Record<string, string>>
}

/** The result of `prompts/get`. */
export interface GetPromptResult extends Result {
  readonly description?: string
  readonly messages: readonly PromptMessage[]
}
