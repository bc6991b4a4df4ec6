import type { Meta, RequestParams } from './base.ts'
import type { ElicitParams, ElicitResult } from './elicitation.ts'
import type { ListRootsResult } from './roots.ts'
import type { SampleParams, SampleResult } from './sampling.ts'

/** Something the client is asked, in the form that travels inside of a result or a task. */
export type InputRequest =
  | { readonly method: 'elicitation/create'; readonly params: ElicitParams }
  | { readonly method: 'sampling/createMessage'; readonly params: SampleParams }
  | { readonly method: 'roots/list'; readonly params?: RequestParams }

/** Questions by the keys that the server gave them. The keys are a peer's: look them up in a Map. */
export type InputRequests = Readonly<Record<string, InputRequest>>

/** The answer to one question. */
export type InputResponse = ElicitResult | SampleResult | ListRootsResult

/** Answers by the keys of their questions. Unchecked: they are whatever the client sent. */
export type InputResponses = Readonly<Record<string, InputResponse>>

/** Instead of a result: what the server has to know before it can give one. Stateless revisions. */
export interface InputRequiredResult {
  readonly resultType: 'input_required'
  readonly inputRequests?: InputRequests
  /** Comes back byte for byte. At least one of this and `inputRequests` is there. */
  readonly requestState?: string
  readonly _meta?: Meta
}

/** The params of the methods that may ask back: a retry answers what was asked. */
export interface RetryParams extends RequestParams {
  readonly inputResponses?: InputResponses
  readonly requestState?: string
}
