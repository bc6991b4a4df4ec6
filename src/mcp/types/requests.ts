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
  readonly ping: RequestTypes<RequestParams, Result>
  /** Describes the server, in stateless revisions. */
  readonly 'server/discover': RequestTypes<RequestParams, DiscoverResult>
  /** Lists tools, page by page. */
  readonly 'tools/list': RequestTypes<PagedParams, ListToolsResult>
  /** Calls a tool. */
  readonly 'tools/call': RequestTypes<CallToolParams, CallToolResult>
  /** Lists resources, page by page. */
  readonly 'resources/list': RequestTypes<PagedParams, ListResourcesResult>
  /** Lists resource templates, page by page. */
  readonly 'resources/templates/list': RequestTypes<PagedParams, ListResourceTemplatesResult>
  /** Reads a resource. */
  readonly 'resources/read': RequestTypes<ReadResourceParams, ReadResourceResult>
  /** Subscribes to changes of a resource, in session revisions. */
  readonly 'resources/subscribe': RequestTypes<SubscribeParams, Result>
  /** Ends a subscription, in session revisions. */
  readonly 'resources/unsubscribe': RequestTypes<SubscribeParams, Result>
  /** Lists prompts, page by page. */
  readonly 'prompts/list': RequestTypes<PagedParams, ListPromptsResult>
  /** Gets a prompt, rendered with arguments. */
  readonly 'prompts/get': RequestTypes<GetPromptParams, GetPromptResult>
  /** Suggests values for an argument. */
  readonly 'completion/complete': RequestTypes<CompleteParams, CompleteResult>
  /** Sets the level of log messages, in session revisions. */
  readonly 'logging/setLevel': RequestTypes<SetLevelParams, Result>
  /** Lists skills, page by page. */
  readonly 'skills/list': RequestTypes<PagedParams, ListSkillsResult>
  /** Gets the entry of a skill. */
  readonly 'skills/get': RequestTypes<SubscribeParams, GetSkillResult>
  /** Lists the files and folders in a folder of a skill, page by page. */
  readonly 'resources/directory/read': RequestTypes<
    SubscribeParams & PagedParams,
    ReadDirectoryResult
  >
  /** Lists tasks, page by page, in session revisions. */
  readonly 'tasks/list': RequestTypes<PagedParams, ListTasksResult>
  /** Gets the status of a task. */
  readonly 'tasks/get': RequestTypes<TaskParams, Members>
  /** Waits for the result of a task, in session revisions. */
  readonly 'tasks/result': RequestTypes<TaskParams, Members>
  /** Cancels a task. */
  readonly 'tasks/cancel': RequestTypes<TaskParams, Members>
}

/** The params and the result of one request. */
export interface RequestTypes<Params, Outcome> {
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
