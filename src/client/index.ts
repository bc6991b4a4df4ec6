export type { ToolAnswer } from '../mcp/content/tool-answer.ts'
export type { RevisionName } from '../mcp/revisions/revisions.ts'
export type { BatchRequests } from './batch.ts'
export type { CallToolOptions, CompletionOf, ListOptions } from './call-options.ts'
export type { Change, ChangeFilter } from './changes/changes.ts'
export type { Changes } from './changes/subscription.ts'
export { type Client, openClient } from './client.ts'
export type { Dial, ServerDescription } from './connection/negotiate.ts'
export type {
  ClientOptions,
  ElicitForm,
  ElicitUrl,
  HeartbeatOptions,
  KnownVersion,
  LogMessage,
  ReconnectOptions,
  Roots,
  Sample,
  ServerRequestContext,
  VersionCacheOptions,
  VersionStore,
} from './options.ts'
export type {
  AnyPrompts,
  AnyTools,
  ArgumentsAnd,
  InputOf,
  OutputOf,
  Structured,
  ToolTypes,
} from './requests/call-types.ts'
export type { Progress } from './requests/progress.ts'
export type { RequestOptions } from './requests/request-run.ts'
export type { ResourceAnswer, ResultOf } from './results.ts'
export type { LoadedSkill } from './skills.ts'
export type { TaskHandle, TaskUpdate } from './tasks/task.ts'
export type { StartOptions } from './tasks/tasks.ts'
