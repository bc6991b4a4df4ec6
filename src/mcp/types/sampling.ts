import type { Members, Meta, RequestParams, Result, Role, TaskMetadata } from './base.ts'
import type { SamplingContent } from './content.ts'
import type { Tool } from './tool.ts'

/** The params of `sampling/createMessage`: what a model is to continue. */
export interface SampleParams extends RequestParams {
  readonly messages: readonly SamplingMessage[]
  /** Never exceeded. Everything else below is a wish that the client may overrule. */
  readonly maxTokens: number
  readonly systemPrompt?: string
  readonly modelPreferences?: ModelPreferences
  readonly temperature?: number
  readonly stopSequences?: readonly string[]
  /** Anything but `'none'` only if the client declared `sampling.context`. */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers'
  /** For the provider of the model, in its own words. */
  readonly metadata?: Members
  /** Only if the client declared `sampling.tools`. */
  readonly tools?: readonly Tool[]
  readonly toolChoice?: ToolChoice
  readonly task?: TaskMetadata
}

/** One message of a conversation with a model. */
export interface SamplingMessage {
  readonly role: Role
  readonly content: SamplingContent | readonly SamplingContent[]
  readonly _meta?: Meta
}

/** What the model said. */
export interface SampleResult extends Result {
  readonly role: Role
  readonly content: SamplingContent | readonly SamplingContent[]
  /** The model that was used. */
  readonly model: string
  /** `'endTurn'`, `'stopSequence'`, `'maxTokens'`, `'toolUse'`, or the provider's own word. */
  readonly stopReason?: string
}

/** Which model would be right. Priorities go from 0 to 1. */
export interface ModelPreferences {
  /** In the order of preference. */
  readonly hints?: readonly ModelHint[]
  readonly costPriority?: number
  readonly speedPriority?: number
  readonly intelligencePriority?: number
}

/** The name of a model, as far as it matters. */
export interface ModelHint {
  /** A part of a model's name. */
  readonly name?: string
}

/** Whether the model may or must use a tool. */
export interface ToolChoice {
  /** `'auto'` unless said. */
  readonly mode?: 'auto' | 'required' | 'none'
}
