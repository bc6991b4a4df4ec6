import type { RequestParams, Result } from './base.ts'

/** A reference to a prompt by its name. */
export interface PromptReference {
  readonly type: 'ref/prompt'
  /** The name of the prompt. */
  readonly name: string
  /** The display name of the prompt. */
  readonly title?: string
}

/** A reference to a resource or a resource template. */
export interface ResourceReference {
  readonly type: 'ref/resource'
  /** A URI or a URI template. */
  readonly uri: string
}

/** The prompt or resource template whose argument is completed. */
export type CompletionReference = PromptReference | ResourceReference

/** The params of `completion/complete`. */
export interface CompleteParams extends RequestParams {
  /** The prompt or resource template that the argument belongs to. */
  readonly ref: CompletionReference
  /** The argument, and its value so far. */
  readonly argument: {
    /** The name of the argument or variable. */
    readonly name: string
    /** What has been typed so far. */
    readonly value: string
  }
  /** The arguments that already have values. */
  readonly context?: {
    /** Their values, by name. */
    readonly arguments?: Readonly<Record<string, string>>
  }
}

/** The result of `completion/complete`, best match first. */
export interface CompleteResult extends Result {
  /** The suggested values. */
  readonly completion: {
    /** At most 100. */
    readonly values: readonly string[]
    /** How many there are, if that is known. */
    readonly total?: number
    /** Whether there are more than these. */
    readonly hasMore?: boolean
  }
}
