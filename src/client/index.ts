export type { BatchRequests } from './batch.ts'
export type { Change, ChangeFilter } from './changes.ts'
export {
  type CallToolOptions,
  type Client,
  type CompletionOf,
  type ListOptions,
  openClient,
} from './client.ts'
export type { Dial, ServerDescription } from './connect.ts'
export type { Changes } from './listening.ts'
export type {
  ClientOptions,
  ElicitForm,
  ElicitUrl,
  HeartbeatOptions,
  QuestionContext,
  Remember,
  RestartOptions,
  Roots,
  Sample,
  Verdict,
  Verdicts,
} from './options.ts'
export type { Progress } from './progress.ts'
export type { RequestOptions } from './requests.ts'
export type { ResourceAnswer, ResultOf, ToolAnswer } from './results.ts'
export type { TaskHandle, TaskUpdate } from './task.ts'
export type { StartOptions } from './tasks.ts'
