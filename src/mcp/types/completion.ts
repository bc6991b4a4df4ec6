import type { RequestParams, Result } from './base.ts'

/** A prompt, by its name. */
export interface PromptReference {
  readonly type: 'ref/prompt'
  readonly name: string
  readonly title?: string
}

/** A resource or a family of them, by its address. */
export interface ResourceReference {
  readonly type: 'ref/resource'
  /** An address or the template of one. */
  readonly uri: string
}

/** Whose argument is to be completed. */
export type CompletionReference = PromptReference | ResourceReference

/** The params of `completion/complete`. */
export interface CompleteParams extends RequestParams {
  readonly ref: CompletionReference
  /** The argument and what has been typed of it. */
  readonly argument: { readonly name: string; readonly value: string }
  /** The arguments that are settled already. */
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> }
}

/** The answer to `completion/complete`, the best first. */
export interface CompleteResult extends Result {
  readonly completion: {
    /** At most a hundred. */
    readonly values: readonly string[]
    readonly total?: number
    readonly hasMore?: boolean
  }
}
