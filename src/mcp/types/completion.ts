import type { RequestParams, Result } from './base.ts'

/** A reference to a prompt by its name. */
export interface PromptReference {
  readonly type: 'ref/prompt'
  readonly name: string
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
  readonly ref: CompletionReference
  /** The argument, and its value so far. */
  readonly argument: { readonly name: string; readonly value: string }
  /** The arguments that already have values. */
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> }
}

/** The result of `completion/complete`, best match first. */
export interface CompleteResult extends Result {
  readonly completion: {
    /** At most 100. */
    readonly values: readonly string[]
    readonly total?: number
    readonly hasMore?: boolean
  }
}
