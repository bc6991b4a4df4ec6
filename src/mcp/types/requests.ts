import type { Members, PagedParams, RequestParams, Result } from './base.ts'
import type { CompleteParams, CompleteResult } from './completion.ts'
import type { InputRequiredResult } from './input.ts'
import type { DiscoverResult } from './lifecycle.ts'
import type { SetLevelParams } from './logging.ts'
import type { GetPromptParams, GetPromptResult, ListPromptsResult } from './prompts.ts'
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceParams,
  ReadResourceResult,
  SubscribeParams,
} from './resources.ts'
import type { GetSkillResult, ListSkillsResult, ReadDirectoryResult } from './skills.ts'
import type { CreateTaskResult, FlatTaskResult, ListTasksResult, TaskParams } from './tasks.ts'
import type { CallToolParams, CallToolResult, ListToolsResult } from './tools.ts'

/** The params and the final result of each request that a client sends, by method. */
export interface ClientRequests {
  readonly ping: Request<RequestParams, Result>
  readonly 'server/discover': Request<RequestParams, DiscoverResult>
  readonly 'tools/list': Request<PagedParams, ListToolsResult>
  readonly 'tools/call': Request<CallToolParams, CallToolResult>
  readonly 'resources/list': Request<PagedParams, ListResourcesResult>
  readonly 'resources/templates/list': Request<PagedParams, ListResourceTemplatesResult>
  readonly 'resources/read': Request<ReadResourceParams, ReadResourceResult>
  readonly 'resources/subscribe': Request<SubscribeParams, Result>
  readonly 'resources/unsubscribe': Request<SubscribeParams, Result>
  readonly 'prompts/list': Request<PagedParams, ListPromptsResult>
  readonly 'prompts/get': Request<GetPromptParams, GetPromptResult>
  readonly 'completion/complete': Request<CompleteParams, CompleteResult>
  readonly 'logging/setLevel': Request<SetLevelParams, Result>
  readonly 'skills/list': Request<PagedParams, ListSkillsResult>
  readonly 'skills/get': Request<SubscribeParams, GetSkillResult>
  readonly 'resources/directory/read': Request<SubscribeParams & PagedParams, ReadDirectoryResult>
  readonly 'tasks/list': Request<PagedParams, ListTasksResult>
  readonly 'tasks/get': Request<TaskParams, Members>
  readonly 'tasks/result': Request<TaskParams, Members>
  readonly 'tasks/cancel': Request<TaskParams, Members>
}

interface Request<Params, Outcome> {
  readonly params: Params
  readonly result: Outcome
}

/** A method of {@link ClientRequests}. */
export type ClientMethod = keyof ClientRequests

/** The params of a request of a client. */
export type ParamsOf<M extends ClientMethod> = ClientRequests[M]['params']

/**
 * What a server may answer a request with: the result; input requests, for methods that may request input
 * in stateless revisions; or a task, for a tool call.
 */
export type AnswerOf<M extends ClientMethod> =
  | ClientRequests[M]['result']
  | (M extends 'tools/call' | 'prompts/get' | 'resources/read' ? InputRequiredResult : never)
  | (M extends 'tools/call' ? CreateTaskResult | FlatTaskResult : never)
