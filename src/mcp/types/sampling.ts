import type { Members, Meta, RequestParams, Result, Role, TaskMetadata } from './base.ts'
import type { SamplingContent } from './content.ts'
import type { Tool } from './tool-definition.ts'

/** The params of `sampling/createMessage`: the messages that a model continues. */
export interface SampleParams extends RequestParams {
  /** The conversation so far. */
  readonly messages: readonly SamplingMessage[]
  /** Never exceeded. The members below are preferences that the client may override. */
  readonly maxTokens: number
  /** The system prompt. */
  readonly systemPrompt?: string
  /** Which model to choose. */
  readonly modelPreferences?: ModelPreferences
  /** The sampling temperature. */
  readonly temperature?: number
  /** Texts that end the generation. */
  readonly stopSequences?: readonly string[]
  /** Values other than `'none'` require that the client declared `sampling.context`. */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers'
  /** Passed to the model provider; its format depends on the provider. */
  readonly metadata?: Members
  /** Requires that the client declared `sampling.tools`. */
  readonly tools?: readonly Tool[]
  /** Whether the model may or must use a tool. */
  readonly toolChoice?: ToolChoice
  /** Asks for the answer as a task, in revisions that have that. */
  readonly task?: TaskMetadata
}

/** One message to or from a model. */
export interface SamplingMessage {
  /** Whose message it is. */
  readonly role: Role
  /** The content of the message. */
  readonly content: SamplingContent | readonly SamplingContent[]
  /** Metadata, by names that have a prefix. */
  readonly _meta?: Meta
}

/** The result of `sampling/createMessage`: the message of the model. */
export interface SampleResult extends Result {
  /** Whose message it is. */
  readonly role: Role
  /** The content of the message. */
  readonly content: SamplingContent | readonly SamplingContent[]
  /** The model that was used. */
  readonly model: string
  /** `'endTurn'`, `'stopSequence'`, `'maxTokens'`, `'toolUse'`, or a value of the provider. */
  readonly stopReason?: string
}

/** Preferences for the choice of a model. Priorities are from 0 to 1. */
export interface ModelPreferences {
  /** In order of preference. */
  readonly hints?: readonly ModelHint[]
  /** How much a low price matters. */
  readonly costPriority?: number
  /** How much speed matters. */
  readonly speedPriority?: number
  /** How much the abilities of the model matter. */
  readonly intelligencePriority?: number
}

/** A hint at a model. */
export interface ModelHint {
  /** A part of a model's name. */
  readonly name?: string
}

/** Whether the model may or must use a tool. */
export interface ToolChoice {
  /** `'auto'` by default. */
  readonly mode?: 'auto' | 'required' | 'none'
}
