export type { Principal } from '../../jsonrpc/channel.ts'
export type { Caller } from '../caller.ts'
export type { Binary, Contents, PromptReply } from '../content/content.ts'
export type { LocalizedText } from '../content/localized.ts'
export type { ToolAnswer } from '../content/tool-answer.ts'
export type { Era } from '../errors/codes.ts'
export type {
  ErrorData,
  ErrorDataTypes,
  ErrorMaker,
  ErrorMakerOptions,
  ErrorRange,
  Errors,
} from '../errors/constructors.ts'
export type { DataKey, ErrorCategory, ErrorKind, ErrorSeverity } from '../errors/table.ts'
export type { ErrorContext } from '../errors/wire.ts'
export type { Profile, ProfileName, SizePreset } from '../profile.ts'
export type { Features, Revision, RevisionName } from '../revisions/revision.ts'
export type {
  Infer,
  InferInput,
  PathSegment,
  Primitives,
  Schema,
  StandardIssue,
  StandardProps,
  StandardResult,
  StandardSchema,
} from '../schema/standard-schema.ts'
export type { VariablesOf } from '../uri-template/template.ts'
export type {
  Annotations,
  CacheHints,
  CancelledParams,
  ClientCapabilities,
  Cursor,
  Icon,
  Implementation,
  Json,
  JsonObject,
  JsonSchema,
  LogLevel,
  Members,
  Meta,
  NotificationParams,
  ObjectSchema,
  PagedParams,
  PagedResult,
  ProgressParams,
  ProgressToken,
  RequestParams,
  Result,
  Role,
  ServerCapabilities,
  TaskMetadata,
} from './base.ts'
export type {
  CompleteParams,
  CompleteResult,
  CompletionReference,
  PromptReference,
  ResourceReference,
} from './completion.ts'
export type {
  AudioContent,
  BlobResourceContents,
  Content,
  ContentMembers,
  EmbeddedResource,
  ImageContent,
  ResourceContents,
  ResourceLink,
  SamplingContent,
  TextContent,
  TextResourceContents,
  ToolResultContent,
  ToolUseContent,
} from './content.ts'
export type {
  BooleanSchema,
  ElicitationCompleteParams,
  ElicitFormParams,
  ElicitParams,
  ElicitResult,
  ElicitUrlParams,
  EnumSchema,
  FormFieldMembers,
  FormSchema,
  FormValue,
  MultiSelectMembers,
  MultiSelectSchema,
  NumberSchema,
  PrimitiveSchema,
  SingleSelectSchema,
  StringSchema,
  TitledMultiSelectSchema,
  TitledSingleSelectSchema,
  TitledValue,
} from './elicitation.ts'
export type {
  InputRequest,
  InputRequests,
  InputRequiredResult,
  InputResponse,
  InputResponses,
  RetryParams,
} from './input.ts'
export type { DiscoverResult, InitializeParams, InitializeResult } from './lifecycle.ts'
export type { LogMessageParams, SetLevelParams } from './logging.ts'
export type {
  GetPromptParams,
  GetPromptResult,
  ListPromptsResult,
  Prompt,
  PromptArgument,
  PromptMessage,
} from './prompts.ts'
export type {
  AnswerOf,
  ClientMethod,
  ClientRequests,
  ParamsOf,
  RequestTypes,
} from './requests.ts'
export type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceParams,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  ResourceUpdatedParams,
  SubscribeParams,
} from './resources.ts'
export type { ListRootsResult, Root } from './roots.ts'
export type {
  ModelHint,
  ModelPreferences,
  SampleParams,
  SampleResult,
  SamplingMessage,
  ToolChoice,
} from './sampling.ts'
export type {
  GetSkillResult,
  ListSkillsResult,
  ReadDirectoryResult,
  Skill,
  SkillFrontmatter,
  SkillResource,
} from './skills.ts'
export type { AcknowledgedParams, ListenParams, SubscriptionFilter } from './subscriptions.ts'
export type {
  CreateTaskResult,
  DetailedTask,
  FlatTask,
  FlatTaskResult,
  ListTasksResult,
  Task,
  TaskMembers,
  TaskParams,
  TaskResult,
  TaskStatus,
  TaskStatusParams,
} from './tasks.ts'
export type {
  CallToolParams,
  CallToolResult,
  ListToolsResult,
  Tool,
  ToolAnnotations,
  ToolExecution,
} from './tools.ts'
