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
  /** Shows whether the server responds. */
  readonly ping: ClientRequest<RequestParams, Result>
  /** Describes the server, in stateless revisions. */
  readonly 'server/discover': ClientRequest<RequestParams, DiscoverResult>
  /** Lists tools, page by page. */
  readonly 'tools/list': ClientRequest<PagedParams, ListToolsResult>
  /** Calls a tool. */
  readonly 'tools/call': ClientRequest<CallToolParams, CallToolResult>
  /** Lists resources, page by page. */
  readonly 'resources/list': ClientRequest<PagedParams, ListResourcesResult>
  /** Lists resource templates, page by page. */
  readonly 'resources/templates/list': ClientRequest<PagedParams, ListResourceTemplatesResult>
  /** Reads a resource. */
  readonly 'resources/read': ClientRequest<ReadResourceParams, ReadResourceResult>
  /** Subscribes to changes of a resource, in session revisions. */
  readonly 'resources/subscribe': ClientRequest<SubscribeParams, Result>
  /** Ends a subscription, in session revisions. */
  readonly 'resources/unsubscribe': ClientRequest<SubscribeParams, Result>
  /** Lists prompts, page by page. */
  readonly 'prompts/list': ClientRequest<PagedParams, ListPromptsResult>
  /** Gets a prompt, rendered with arguments. */
  readonly 'prompts/get': ClientRequest<GetPromptParams, GetPromptResult>
  /** Suggests values for an argument. */
  readonly 'completion/complete': ClientRequest<CompleteParams, CompleteResult>
  /** Sets the level of log messages, in session revisions. */
  readonly 'logging/setLevel': ClientRequest<SetLevelParams, Result>
  /** Lists skills, page by page. */
  readonly 'skills/list': ClientRequest<PagedParams, ListSkillsResult>
  /** Gets the entry of a skill. */
  readonly 'skills/get': ClientRequest<SubscribeParams, GetSkillResult>
  /** Lists the files and folders in a folder of a skill, page by page. */
  readonly 'resources/directory/read': ClientRequest<
    SubscribeParams & PagedParams,
    ReadDirectoryResult
  >
  /** Lists tasks, page by page, in session revisions. */
  readonly 'tasks/list': ClientRequest<PagedParams, ListTasksResult>
  /** Gets the status of a task. */
  readonly 'tasks/get': ClientRequest<TaskParams, Members>
  /** Waits for the result of a task, in session revisions. */
  readonly 'tasks/result': ClientRequest<TaskParams, Members>
  /** Cancels a task. */
  readonly 'tasks/cancel': ClientRequest<TaskParams, Members>
}

/** The params and the result of one request. */
export interface ClientRequest<Params, Outcome> {
  /** The params of the request. */
  readonly params: Params
  /** Its final result. */
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
