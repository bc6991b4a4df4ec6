import type * as Official from '@modelcontextprotocol/sdk/spec.types.js'
import { describe, expectTypeOf, test } from 'vitest'
import type {
  Annotations,
  CancelledParams,
  ClientCapabilities,
  Icon,
  Implementation,
  LogLevel,
  PagedParams,
  ProgressParams,
  Role,
  ServerCapabilities,
  TaskMetadata,
} from '../../src/mcp/types/base.ts'
import type {
  CompleteParams,
  CompleteResult,
  CompletionReference,
} from '../../src/mcp/types/completion.ts'
import type {
  Content,
  ResourceContents,
  SamplingContent,
  ToolResultContent,
  ToolUseContent,
} from '../../src/mcp/types/content.ts'
import type {
  ElicitationCompleteParams,
  ElicitFormParams,
  ElicitParams,
  ElicitResult,
  ElicitUrlParams,
  PrimitiveSchema,
} from '../../src/mcp/types/elicitation.ts'
import type { InitializeParams, InitializeResult } from '../../src/mcp/types/lifecycle.ts'
import type { LogMessageParams, SetLevelParams } from '../../src/mcp/types/logging.ts'
import type {
  GetPromptParams,
  GetPromptResult,
  ListPromptsResult,
  Prompt,
  PromptMessage,
} from '../../src/mcp/types/prompts.ts'
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceParams,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  ResourceUpdatedParams,
  SubscribeParams,
} from '../../src/mcp/types/resources.ts'
import type { ListRootsResult, Root } from '../../src/mcp/types/roots.ts'
import type {
  ModelPreferences,
  SampleParams,
  SampleResult,
  SamplingMessage,
  ToolChoice,
} from '../../src/mcp/types/sampling.ts'
import type {
  CreateTaskResult,
  ListTasksResult,
  Task,
  TaskParams,
  TaskResult,
  TaskStatus,
  TaskStatusParams,
} from '../../src/mcp/types/tasks.ts'
import type {
  CallToolParams,
  CallToolResult,
  ListToolsResult,
  Tool,
  ToolAnnotations,
  ToolExecution,
} from '../../src/mcp/types/tools.ts'
import type { Missing, Writable } from './compare.ts'

describe('the official types of the last session revision', () => {
  test('are accepted: the base', () => {
    expectTypeOf<Official.Role>().toEqualTypeOf<Role>()
    expectTypeOf<Official.LoggingLevel>().toEqualTypeOf<LogLevel>()
    expectTypeOf<Official.Icon>().toExtend<Icon>()
    expectTypeOf<Official.Annotations>().toExtend<Annotations>()
    expectTypeOf<Official.Implementation>().toExtend<Implementation>()
    expectTypeOf<Official.TaskMetadata>().toExtend<TaskMetadata>()
    expectTypeOf<Official.PaginatedRequestParams>().toExtend<PagedParams>()
    expectTypeOf<Official.CancelledNotificationParams>().toExtend<CancelledParams>()
    expectTypeOf<Official.ProgressNotificationParams>().toExtend<ProgressParams>()
    expectTypeOf<Official.LoggingMessageNotificationParams>().toExtend<LogMessageParams>()
    expectTypeOf<Official.SetLevelRequestParams>().toExtend<SetLevelParams>()
  })

  test('are accepted: content', () => {
    expectTypeOf<Official.ContentBlock>().toExtend<Content>()
    expectTypeOf<Official.ToolUseContent>().toExtend<ToolUseContent>()
    expectTypeOf<Official.ToolResultContent>().toExtend<ToolResultContent>()
    expectTypeOf<Official.SamplingMessageContentBlock>().toExtend<SamplingContent>()
    expectTypeOf<Official.TextResourceContents>().toExtend<ResourceContents>()
    expectTypeOf<Official.BlobResourceContents>().toExtend<ResourceContents>()
  })

  test('are accepted: server features', () => {
    expectTypeOf<Official.Tool>().toExtend<Tool>()
    expectTypeOf<Official.ListToolsResult>().toExtend<ListToolsResult>()
    expectTypeOf<Official.CallToolRequestParams>().toExtend<CallToolParams>()
    expectTypeOf<Official.CallToolResult>().toExtend<CallToolResult>()
    expectTypeOf<Official.Resource>().toExtend<Resource>()
    expectTypeOf<Official.ResourceTemplate>().toExtend<ResourceTemplate>()
    expectTypeOf<Official.ListResourcesResult>().toExtend<ListResourcesResult>()
    expectTypeOf<Official.ListResourceTemplatesResult>().toExtend<ListResourceTemplatesResult>()
    expectTypeOf<Official.ReadResourceRequestParams>().toExtend<ReadResourceParams>()
    expectTypeOf<Official.ReadResourceResult>().toExtend<ReadResourceResult>()
    expectTypeOf<Official.SubscribeRequestParams>().toExtend<SubscribeParams>()
    expectTypeOf<Official.ResourceUpdatedNotificationParams>().toExtend<ResourceUpdatedParams>()
    expectTypeOf<Official.Prompt>().toExtend<Prompt>()
    expectTypeOf<Official.PromptMessage>().toExtend<PromptMessage>()
    expectTypeOf<Official.ListPromptsResult>().toExtend<ListPromptsResult>()
    expectTypeOf<Official.GetPromptRequestParams>().toExtend<GetPromptParams>()
    expectTypeOf<Official.GetPromptResult>().toExtend<GetPromptResult>()
    expectTypeOf<Official.CompleteRequestParams>().toExtend<CompleteParams>()
    expectTypeOf<Official.CompleteResult>().toExtend<CompleteResult>()
  })

  test('are accepted: server requests', () => {
    expectTypeOf<Official.ElicitRequestParams>().toExtend<ElicitParams>()
    expectTypeOf<Official.ElicitResult>().toExtend<ElicitResult>()
    expectTypeOf<Official.PrimitiveSchemaDefinition>().toExtend<PrimitiveSchema>()
    expectTypeOf<
      Params<Official.ElicitationCompleteNotification>
    >().toExtend<ElicitationCompleteParams>()
    expectTypeOf<Official.SamplingMessage>().toExtend<SamplingMessage>()
    expectTypeOf<Official.CreateMessageResult>().toExtend<SampleResult>()
    expectTypeOf<Official.ModelPreferences>().toExtend<ModelPreferences>()
    expectTypeOf<Official.Root>().toExtend<Root>()
    expectTypeOf<Official.ListRootsResult>().toExtend<ListRootsResult>()
  })

  test('are accepted: tasks', () => {
    expectTypeOf<Official.TaskStatus>().toEqualTypeOf<TaskStatus>()
    expectTypeOf<Official.Task>().toExtend<Task>()
    expectTypeOf<Official.CreateTaskResult>().toExtend<CreateTaskResult>()
    expectTypeOf<Official.GetTaskResult>().toExtend<TaskResult>()
    expectTypeOf<Official.ListTasksResult>().toExtend<ListTasksResult>()
    expectTypeOf<Params<Official.GetTaskRequest>>().toExtend<TaskParams>()
    expectTypeOf<Official.TaskStatusNotificationParams>().toExtend<TaskStatusParams>()
  })

  test('have no members that ours lack', () => {
    expectTypeOf<Missing<Official.Icon, Icon>>().toBeNever()
    expectTypeOf<Missing<Official.Annotations, Annotations>>().toBeNever()
    expectTypeOf<Missing<Official.Implementation, Implementation>>().toBeNever()
    expectTypeOf<Missing<Official.TaskMetadata, TaskMetadata>>().toBeNever()
    expectTypeOf<Missing<Official.PaginatedRequestParams, PagedParams>>().toBeNever()
    expectTypeOf<Missing<Official.CancelledNotificationParams, CancelledParams>>().toBeNever()
    expectTypeOf<Missing<Official.ProgressNotificationParams, ProgressParams>>().toBeNever()
    expectTypeOf<Missing<Official.LoggingMessageNotificationParams, LogMessageParams>>().toBeNever()
    expectTypeOf<Missing<Official.SetLevelRequestParams, SetLevelParams>>().toBeNever()
    expectTypeOf<Missing<Official.ContentBlock, Content>>().toBeNever()
    expectTypeOf<Missing<Official.ToolUseContent, ToolUseContent>>().toBeNever()
    expectTypeOf<Missing<Official.ToolResultContent, ToolResultContent>>().toBeNever()
    expectTypeOf<Missing<Official.SamplingMessageContentBlock, SamplingContent>>().toBeNever()
    expectTypeOf<Missing<Official.TextResourceContents, ResourceContents>>().toBeNever()
    expectTypeOf<Missing<Official.BlobResourceContents, ResourceContents>>().toBeNever()
    expectTypeOf<Missing<Official.Tool, Tool>>().toBeNever()
    expectTypeOf<Missing<Official.ListToolsResult, ListToolsResult>>().toBeNever()
    expectTypeOf<Missing<Official.CallToolRequestParams, CallToolParams>>().toBeNever()
    expectTypeOf<Missing<Official.CallToolResult, CallToolResult>>().toBeNever()
    expectTypeOf<Missing<Official.Resource, Resource>>().toBeNever()
    expectTypeOf<Missing<Official.ResourceTemplate, ResourceTemplate>>().toBeNever()
    expectTypeOf<Missing<Official.ListResourcesResult, ListResourcesResult>>().toBeNever()
    expectTypeOf<
      Missing<Official.ListResourceTemplatesResult, ListResourceTemplatesResult>
    >().toBeNever()
    expectTypeOf<Missing<Official.ReadResourceRequestParams, ReadResourceParams>>().toBeNever()
    expectTypeOf<Missing<Official.ReadResourceResult, ReadResourceResult>>().toBeNever()
    expectTypeOf<Missing<Official.SubscribeRequestParams, SubscribeParams>>().toBeNever()
    expectTypeOf<
      Missing<Official.ResourceUpdatedNotificationParams, ResourceUpdatedParams>
    >().toBeNever()
    expectTypeOf<Missing<Official.Prompt, Prompt>>().toBeNever()
    expectTypeOf<Missing<Official.PromptMessage, PromptMessage>>().toBeNever()
    expectTypeOf<Missing<Official.ListPromptsResult, ListPromptsResult>>().toBeNever()
    expectTypeOf<Missing<Official.GetPromptRequestParams, GetPromptParams>>().toBeNever()
    expectTypeOf<Missing<Official.GetPromptResult, GetPromptResult>>().toBeNever()
    expectTypeOf<Missing<Official.CompleteRequestParams, CompleteParams>>().toBeNever()
    expectTypeOf<Missing<Official.CompleteResult, CompleteResult>>().toBeNever()
    expectTypeOf<Missing<Official.ElicitRequestParams, ElicitParams>>().toBeNever()
    expectTypeOf<Missing<Official.ElicitResult, ElicitResult>>().toBeNever()
    expectTypeOf<Missing<Official.PrimitiveSchemaDefinition, PrimitiveSchema>>().toBeNever()
    expectTypeOf<Missing<Official.SamplingMessage, SamplingMessage>>().toBeNever()
    expectTypeOf<Missing<Official.CreateMessageResult, SampleResult>>().toBeNever()
    expectTypeOf<Missing<Official.ModelPreferences, ModelPreferences>>().toBeNever()
    expectTypeOf<Missing<Official.Root, Root>>().toBeNever()
    expectTypeOf<Missing<Official.ListRootsResult, ListRootsResult>>().toBeNever()
    expectTypeOf<Missing<Official.Task, Task>>().toBeNever()
    expectTypeOf<Missing<Official.CreateTaskResult, CreateTaskResult>>().toBeNever()
    expectTypeOf<Missing<Official.GetTaskResult, TaskResult>>().toBeNever()
    expectTypeOf<Missing<Official.ListTasksResult, ListTasksResult>>().toBeNever()
    expectTypeOf<Missing<Params<Official.GetTaskRequest>, TaskParams>>().toBeNever()
    expectTypeOf<Missing<Official.TaskStatusNotificationParams, TaskStatusParams>>().toBeNever()
    expectTypeOf<Missing<Official.ClientCapabilities, ClientCapabilities>>().toBeNever()
    expectTypeOf<Missing<Official.ServerCapabilities, ServerCapabilities>>().toBeNever()
    expectTypeOf<Missing<Official.ToolAnnotations, ToolAnnotations>>().toBeNever()
    expectTypeOf<Missing<Official.ToolExecution, ToolExecution>>().toBeNever()
    expectTypeOf<Missing<Official.CreateMessageRequestParams, SampleParams>>().toBeNever()
    expectTypeOf<Missing<Official.ToolChoice, ToolChoice>>().toBeNever()
    expectTypeOf<Missing<Official.InitializeRequestParams, InitializeParams>>().toBeNever()
    expectTypeOf<Missing<Official.InitializeResult, InitializeResult>>().toBeNever()
  })
})

describe('our types are official ones', () => {
  test('the base and the handshake', () => {
    expectTypeOf<Writable<Icon>>().toExtend<Official.Icon>()
    expectTypeOf<Writable<Annotations>>().toExtend<Official.Annotations>()
    expectTypeOf<Writable<Implementation>>().toExtend<Official.Implementation>()
    expectTypeOf<Writable<ClientCapabilities>>().toExtend<Official.ClientCapabilities>()
    expectTypeOf<Writable<ServerCapabilities>>().toExtend<Official.ServerCapabilities>()
    expectTypeOf<Writable<InitializeParams>>().toExtend<Official.InitializeRequestParams>()
    expectTypeOf<Writable<InitializeResult>>().toExtend<Official.InitializeResult>()
  })

  test('content', () => {
    expectTypeOf<Writable<Content>>().toExtend<Official.ContentBlock>()
    expectTypeOf<Writable<ToolUseContent>>().toExtend<Official.ToolUseContent>()
  })

  test('server features', () => {
    expectTypeOf<Writable<ToolAnnotations>>().toExtend<Official.ToolAnnotations>()
    expectTypeOf<Writable<ToolExecution>>().toExtend<Official.ToolExecution>()
    expectTypeOf<Writable<Resource>>().toExtend<Official.Resource>()
    expectTypeOf<Writable<ResourceTemplate>>().toExtend<Official.ResourceTemplate>()
    expectTypeOf<Writable<Prompt>>().toExtend<Official.Prompt>()
    expectTypeOf<Writable<PromptMessage>>().toExtend<Official.PromptMessage>()
    expectTypeOf<Writable<CompletionReference>>().toExtend<Official.CompleteRequestParams['ref']>()
    expectTypeOf<Writable<GetPromptResult>>().toExtend<Official.GetPromptResult>()
    expectTypeOf<Writable<ReadResourceResult>>().toExtend<Official.ReadResourceResult>()
    expectTypeOf<Writable<CompleteResult>>().toExtend<Official.CompleteResult>()
  })

  test('server requests', () => {
    expectTypeOf<Writable<ElicitFormParams>>().toExtend<Official.ElicitRequestFormParams>()
    expectTypeOf<Writable<ElicitUrlParams>>().toExtend<
      Omit<Official.ElicitRequestURLParams, 'elicitationId'>
    >()
    expectTypeOf<Writable<PrimitiveSchema>>().toExtend<Official.PrimitiveSchemaDefinition>()
    expectTypeOf<Writable<ElicitResult>>().toExtend<Official.ElicitResult>()
    expectTypeOf<Writable<Omit<SampleParams, 'tools' | 'messages'>>>().toExtend<
      Omit<Official.CreateMessageRequestParams, 'tools' | 'messages'>
    >()
    expectTypeOf<Writable<ToolChoice>>().toExtend<Official.ToolChoice>()
    expectTypeOf<Writable<Root>>().toExtend<Official.Root>()
    expectTypeOf<Writable<ListRootsResult>>().toExtend<Official.ListRootsResult>()
  })

  test('tasks', () => {
    expectTypeOf<Writable<Task>>().toExtend<Official.Task>()
    expectTypeOf<Writable<ListTasksResult>>().toExtend<Official.ListTasksResult>()
  })
})

type Params<R extends { params: unknown }> = R['params']
