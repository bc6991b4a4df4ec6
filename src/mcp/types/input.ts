import type { Meta, RequestParams } from './base.ts'
import type { ElicitParams, ElicitResult } from './elicitation.ts'
import type { ListRootsResult } from './roots.ts'
import type { SampleParams, SampleResult } from './sampling.ts'

/** A server request in the form that is embedded in a result or a task. */
export type InputRequest =
  | {
      readonly method: 'elicitation/create'
      /** What the user is asked. */
      readonly params: ElicitParams
    }
  | {
      readonly method: 'sampling/createMessage'
      /** What the model is asked. */
      readonly params: SampleParams
    }
  | {
      readonly method: 'roots/list'
      /** Nothing but metadata. */
      readonly params?: RequestParams
    }

/** Input requests by key. The server chooses the keys: look them up in a Map. */
export type InputRequests = Readonly<Record<string, InputRequest>>

/** The response to one input request. */
export type InputResponse = ElicitResult | SampleResult | ListRootsResult

/** Input responses by the key of their request. Unchecked: the client may have sent anything. */
export type InputResponses = Readonly<Record<string, InputResponse>>

/** Returned instead of a result: the input that the server needs first. Stateless revisions. */
export interface InputRequiredResult {
  readonly resultType: 'input_required'
  /** What the server asks, by key. */
  readonly inputRequests?: InputRequests
  /** Sent back unchanged in the retry. At least one of `requestState` and `inputRequests` is present. */
  readonly requestState?: string
  /** Metadata, by names that have a prefix. */
  readonly _meta?: Meta
}

/** The params of methods that may request input: a retry has the responses. */
export interface RetryParams extends RequestParams {
  /** The responses to the input requests, by their keys. */
  readonly inputResponses?: InputResponses
  /** The state of the input requests, unchanged. */
  readonly requestState?: string
}
