import type { ErrorObject } from '../../jsonrpc/message.ts'
import type {
  Members,
  Meta,
  NotificationParams,
  PagedResult,
  RequestParams,
  Result,
} from './base.ts'
import type { InputRequests } from './input.ts'

/** The status of a task. `'completed'`, `'failed'` and `'cancelled'` are final. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/** Whether a status is final. */
export function isFinal(status: TaskStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}

/** The members that both kinds of tasks have. */
interface TaskFields {
  readonly taskId: string
  readonly status: TaskStatus
  /** A human-readable status. */
  readonly statusMessage?: string
  /** An ISO 8601 time. */
  readonly createdAt: string
  /** An ISO 8601 time. */
  readonly lastUpdatedAt: string
}

/** A task of the session revisions. */
export interface Task extends TaskFields {
  /** How long it is kept from its creation, in milliseconds; null means without limit. */
  readonly ttl: number | null
  /** How long to wait between two polls, in milliseconds. */
  readonly pollInterval?: number
}

/** The result of a request that became a task, in session revisions. */
export interface CreateTaskResult extends Result {
  readonly task: Task
}

/** The result of `tasks/get` and `tasks/cancel`, in session revisions. */
export interface TaskResult extends Task, Result {}

/** The result of `tasks/list`, in session revisions. */
export interface ListTasksResult extends PagedResult {
  readonly tasks: readonly Task[]
}

/** The params of `notifications/tasks/status`, in session revisions. */
export interface TaskStatusParams extends Task, NotificationParams {}

/** The params of `tasks/get`, `tasks/result` and `tasks/cancel`. */
export interface TaskParams extends RequestParams {
  readonly taskId: string
}

/** A task of the tasks extension. Its members have other names, so that the two cannot be confused. */
export interface FlatTask extends TaskFields {
  /** How long it is kept from its creation, in milliseconds; null means without limit. */
  readonly ttlMs: number | null
  /** How long to wait between two polls, in milliseconds. */
  readonly pollIntervalMs?: number
}

/** The result of a request that became a task, in the extension. */
export interface FlatTaskResult extends FlatTask {
  readonly resultType: 'task'
  readonly _meta?: Meta
}

/** A task of the extension with the members that its status adds. */
export type DetailedTask =
  | (FlatTask & { readonly status: 'working' | 'cancelled' })
  | (FlatTask & { readonly status: 'input_required'; readonly inputRequests: InputRequests })
  | (FlatTask & { readonly status: 'completed'; readonly result: Members })
  | (FlatTask & { readonly status: 'failed'; readonly error: ErrorObject })
