import type * as Official from '@modelcontextprotocol/server'
import { describe, expectTypeOf, test } from 'vitest'
import type {
  CacheHints,
  ClientCapabilities,
  Implementation,
  Json,
  LogLevel,
  ServerCapabilities,
} from '../../src/mcp/types/base.ts'
import type { CompleteParams, CompleteResult } from '../../src/mcp/types/completion.ts'
import type { Content, SamplingContent } from '../../src/mcp/types/content.ts'
import type { ElicitFormParams, ElicitResult, FormSchema } from '../../src/mcp/types/elicitation.ts'
import type {
  InputRequest,
  InputRequests,
  InputRequiredResult,
  InputResponses,
} from '../../src/mcp/types/input.ts'
import type { DiscoverResult } from '../../src/mcp/types/lifecycle.ts'
import type { GetPromptParams, GetPromptResult, Prompt } from '../../src/mcp/types/prompts.ts'
import type {
  ReadResourceParams,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
} from '../../src/mcp/types/resources.ts'
import type { ListRootsResult } from '../../src/mcp/types/roots.ts'
import type { SampleParams, SampleResult } from '../../src/mcp/types/sampling.ts'
import type {
  AcknowledgedParams,
  ListenParams,
  SubscriptionFilter,
} from '../../src/mcp/types/subscriptions.ts'
import type { DetailedTask, FlatTaskResult } from '../../src/mcp/types/tasks.ts'
import type { CallToolParams, CallToolResult, Tool } from '../../src/mcp/types/tools.ts'
import type { Missing, Writable } from './compare.ts'

describe('the official types of the stateless revision', () => {
  test('are accepted: the base', () => {
    expectTypeOf<Official.LoggingLevel>().toEqualTypeOf<LogLevel>()
    expectTypeOf<Official.Implementation>().toExtend<Implementation>()
    expectTypeOf<Official.ClientCapabilities>().toExtend<ClientCapabilities>()
    expectTypeOf<Official.ServerCapabilities>().toExtend<ServerCapabilities>()
    expectTypeOf<Official.CacheHint>().toExtend<CacheHints>()
    expectTypeOf<Official.JSONValue>().toExtend<Json>()
    expectTypeOf<Official.DiscoverResult>().toExtend<DiscoverResult>()
  })

  test('are accepted: server features', () => {
    expectTypeOf<Official.ContentBlock>().toExtend<Content>()
    expectTypeOf<Official.Tool>().toExtend<Tool>()
    expectTypeOf<Official.CallToolRequestParams>().toExtend<CallToolParams>()
    expectTypeOf<Official.CallToolResult>().toExtend<CallToolResult>()
    expectTypeOf<Official.Resource>().toExtend<Resource>()
    expectTypeOf<Official.ResourceTemplateType>().toExtend<ResourceTemplate>()
    expectTypeOf<Official.ReadResourceRequestParams>().toExtend<ReadResourceParams>()
    expectTypeOf<Official.ReadResourceResult>().toExtend<ReadResourceResult>()
    expectTypeOf<Official.Prompt>().toExtend<Prompt>()
    expectTypeOf<Official.GetPromptRequestParams>().toExtend<GetPromptParams>()
    expectTypeOf<Official.GetPromptResult>().toExtend<GetPromptResult>()
    expectTypeOf<Official.CompleteRequestParams>().toExtend<CompleteParams>()
    expectTypeOf<Official.CompleteResult>().toExtend<CompleteResult>()
  })

  test('are accepted: input requests', () => {
    expectTypeOf<Official.SamplingMessageContentBlock>().toExtend<SamplingContent>()
    expectTypeOf<Official.CreateMessageRequestParams>().toExtend<SampleParams>()
    expectTypeOf<Official.CreateMessageResult>().toExtend<SampleResult>()
    expectTypeOf<Official.ElicitRequestFormParams>().toExtend<ElicitFormParams>()
    expectTypeOf<Official.ElicitResult>().toExtend<ElicitResult>()
    expectTypeOf<Official.ListRootsResult>().toExtend<ListRootsResult>()
    expectTypeOf<Official.InputRequest>().toExtend<InputRequest>()
    expectTypeOf<Official.InputRequests>().toExtend<InputRequests>()
    expectTypeOf<Official.InputResponses>().toExtend<InputResponses>()
    expectTypeOf<Official.InputRequiredResult>().toExtend<InputRequiredResult>()
  })

  test('are accepted: subscriptions', () => {
    expectTypeOf<Official.SubscriptionFilter>().toExtend<SubscriptionFilter>()
    expectTypeOf<Official.SubscriptionsListenRequestParams>().toExtend<ListenParams>()
    expectTypeOf<Official.SubscriptionsAcknowledgedNotificationParams>().toExtend<AcknowledgedParams>()
  })

  test('have no members that ours lack', () => {
    expectTypeOf<Missing<Official.Implementation, Implementation>>().toBeNever()
    expectTypeOf<Missing<Official.ClientCapabilities, ClientCapabilities>>().toBeNever()
    expectTypeOf<Missing<Official.ServerCapabilities, ServerCapabilities>>().toBeNever()
    expectTypeOf<Missing<Official.CacheHint, CacheHints>>().toBeNever()
    expectTypeOf<Missing<Official.DiscoverResult, DiscoverResult>>().toBeNever()
    expectTypeOf<Missing<Official.ContentBlock, Content>>().toBeNever()
    expectTypeOf<Missing<Official.Tool, Tool>>().toBeNever()
    expectTypeOf<Missing<Official.CallToolRequestParams, CallToolParams>>().toBeNever()
    expectTypeOf<Missing<Official.CallToolResult, CallToolResult>>().toBeNever()
    expectTypeOf<Missing<Official.Resource, Resource>>().toBeNever()
    expectTypeOf<Missing<Official.ResourceTemplateType, ResourceTemplate>>().toBeNever()
    expectTypeOf<Missing<Official.ReadResourceRequestParams, ReadResourceParams>>().toBeNever()
    expectTypeOf<Missing<Official.ReadResourceResult, ReadResourceResult>>().toBeNever()
    expectTypeOf<Missing<Official.Prompt, Prompt>>().toBeNever()
    expectTypeOf<Missing<Official.GetPromptRequestParams, GetPromptParams>>().toBeNever()
    expectTypeOf<Missing<Official.GetPromptResult, GetPromptResult>>().toBeNever()
    expectTypeOf<Missing<Official.CompleteRequestParams, CompleteParams>>().toBeNever()
    expectTypeOf<Missing<Official.CompleteResult, CompleteResult>>().toBeNever()
    expectTypeOf<Missing<Official.SamplingMessageContentBlock, SamplingContent>>().toBeNever()
    expectTypeOf<Missing<Official.CreateMessageRequestParams, SampleParams>>().toBeNever()
    expectTypeOf<Missing<Official.CreateMessageResult, SampleResult>>().toBeNever()
    expectTypeOf<Missing<Official.ElicitRequestFormParams, ElicitFormParams>>().toBeNever()
    expectTypeOf<Missing<Official.ElicitResult, ElicitResult>>().toBeNever()
    expectTypeOf<Missing<Official.ListRootsResult, ListRootsResult>>().toBeNever()
    expectTypeOf<Missing<Official.InputRequest, InputRequest>>().toBeNever()
    expectTypeOf<Missing<Official.InputRequests, InputRequests>>().toBeNever()
    expectTypeOf<Missing<Official.InputResponses, InputResponses>>().toBeNever()
    expectTypeOf<Missing<Official.InputRequiredResult, InputRequiredResult>>().toBeNever()
    expectTypeOf<Missing<Official.SubscriptionFilter, SubscriptionFilter>>().toBeNever()
    expectTypeOf<Missing<Official.SubscriptionsListenRequestParams, ListenParams>>().toBeNever()
    expectTypeOf<
      Missing<Official.SubscriptionsAcknowledgedNotificationParams, AcknowledgedParams>
    >().toBeNever()
  })
})

describe('our types are official ones', () => {
  test('the base', () => {
    expectTypeOf<Writable<Implementation>>().toExtend<Official.Implementation>()
    expectTypeOf<Writable<CacheHints>>().toExtend<Official.CacheHint>()
  })

  test('server features', () => {
    expectTypeOf<Writable<Content>>().toExtend<Official.ContentBlock>()
    expectTypeOf<Writable<Omit<Tool, 'inputSchema'>>>().toExtend<
      Omit<Official.Tool, 'inputSchema'>
    >()
    expectTypeOf<Writable<CallToolResult>>().toExtend<Official.CallToolResult>()
    expectTypeOf<Writable<Resource>>().toExtend<Official.Resource>()
    expectTypeOf<Writable<ResourceTemplate>>().toExtend<Official.ResourceTemplateType>()
    expectTypeOf<Writable<ReadResourceResult>>().toExtend<Official.ReadResourceResult>()
    expectTypeOf<Writable<Prompt>>().toExtend<Official.Prompt>()
    expectTypeOf<Writable<GetPromptResult>>().toExtend<Official.GetPromptResult>()
    expectTypeOf<Writable<CompleteResult>>().toExtend<Official.CompleteResult>()
    expectTypeOf<Writable<DiscoverResult['supportedVersions']>>().toExtend<
      Official.DiscoverResult['supportedVersions']
    >()
  })

  test('input requests', () => {
    expectTypeOf<Writable<FormSchema>>().toExtend<
      Official.ElicitRequestFormParams['requestedSchema']
    >()
    expectTypeOf<Writable<ElicitResult>>().toExtend<Official.ElicitResult>()
    expectTypeOf<Writable<ListRootsResult>>().toExtend<Official.ListRootsResult>()
    expectTypeOf<Writable<SubscriptionFilter>>().toExtend<Official.SubscriptionFilter>()
  })
})

describe('results are distinguished', () => {
  test('by its type', () => {
    const narrow = (answer: CallToolResult | InputRequiredResult | FlatTaskResult) => {
      switch (answer.resultType) {
        case 'input_required':
          return expectTypeOf(answer).toEqualTypeOf<InputRequiredResult>()
        case 'task':
          return expectTypeOf(answer).toEqualTypeOf<FlatTaskResult>()
        default:
          return expectTypeOf(answer).toEqualTypeOf<CallToolResult>()
      }
    }
    narrow({ content: [] })
  })

  test('a task by its status', () => {
    type Completed = Extract<DetailedTask, { status: 'completed' }>
    expectTypeOf<Completed>().toHaveProperty('result')
    expectTypeOf<Exclude<DetailedTask, Completed>>().not.toHaveProperty('result')
  })
})
