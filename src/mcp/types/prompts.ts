import type { CacheHints, Icon, Meta, PagedResult, Result, Role } from './base.ts'
import type { Content } from './content.ts'
import type { RetryParams } from './input.ts'

/** A prompt, as listed by a server. */
export interface Prompt {
  /** The name by which clients get it. */
  readonly name: string
  /** The display name. */
  readonly title?: string
  /** What the prompt is for. */
  readonly description?: string
  /** The arguments that it takes. */
  readonly arguments?: readonly PromptArgument[]
  /** Icons for the user interface of hosts. */
  readonly icons?: readonly Icon[]
  /** Metadata, by names that have a prefix. */
  readonly _meta?: Meta
}

/** An argument of a prompt. */
export interface PromptArgument {
  /** The name of the argument. */
  readonly name: string
  /** The display name. */
  readonly title?: string
  /** What it is for. */
  readonly description?: string
  /** Whether it must be given. */
  readonly required?: boolean
}

/** One message of a prompt. */
export interface PromptMessage {
  /** Whose message it is. */
  readonly role: Role
  /** The content of the message. */
  readonly content: Content
}

/** The result of `prompts/list`. */
export interface ListPromptsResult extends PagedResult, CacheHints {
  /** The prompts on this page. */
  readonly prompts: readonly Prompt[]
}

/** The params of `prompts/get`. */
export interface GetPromptParams extends RetryParams {
  /** The name of the prompt. */
  readonly name: string
  /** The values of its arguments, by name. */
  readonly arguments?: Readonly<Record<string, string>>
}

/** The result of `prompts/get`. */
export interface GetPromptResult extends Result {
  /** What the prompt is for. */
  readonly description?: string
  /** The messages for the model, in order. */
  readonly messages: readonly PromptMessage[]
}
