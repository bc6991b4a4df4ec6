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
export interface TaskMembers {
  /** Identifies the task. */
  readonly taskId: string
  /** What the task is doing. */
  readonly status: TaskStatus
  /** A human-readable status. */
  readonly statusMessage?: string
  /** An ISO 8601 time. */
  readonly createdAt: string
  /** An ISO 8601 time. */
  readonly lastUpdatedAt: string
}

/** A task of the session revisions. */
export interface Task extends TaskMembers {
  /** How long it is kept from its creation, in milliseconds; null means without limit. */
  readonly ttl: number | null
  /** How long to wait between two polls, in milliseconds. */
  readonly pollInterval?: number
}

/** The result of a request that became a task, in session revisions. */
export interface CreateTaskResult extends Result {
  /** The task that the request became. */
  readonly task: Task
}

/** The result of `tasks/get` and `tasks/cancel`, in session revisions. */
export interface TaskResult extends Task, Result {}

/** The result of `tasks/list`, in session revisions. */
export interface ListTasksResult extends PagedResult {
  /** The tasks on this page. */
  readonly tasks: readonly Task[]
}

/** The params of `notifications/tasks/status`, in session revisions. */
export interface TaskStatusParams extends Task, NotificationParams {}

/** The params of `tasks/get`, `tasks/result` and `tasks/cancel`. */
export interface TaskParams extends RequestParams {
  /** The id of the task. */
  readonly taskId: string
}

/** A task of the tasks extension. Its members have other names, so that the two cannot be confused. */
export interface FlatTask extends TaskMembers {
  /** How long it is kept from its creation, in milliseconds; null means without limit. */
  readonly ttlMs: number | null
  /** How long to wait between two polls, in milliseconds. */
  readonly pollIntervalMs?: number
}

/** The result of a request that became a task, in the extension. */
export interface FlatTaskResult extends FlatTask {
  readonly resultType: 'task'
  /** Metadata, by names that have a prefix. */
  readonly _meta?: Meta
}

/** A task of the extension with the members that its status adds. */
export type DetailedTask =
  | (FlatTask & {
      /** It runs, or it was cancelled. */
      readonly status: 'working' | 'cancelled'
    })
  | (FlatTask & {
      readonly status: 'input_required'
      /** What the server asks, by key. */
      readonly inputRequests: InputRequests
    })
  | (FlatTask & {
      readonly status: 'completed'
      /** The result of the request. */
      readonly result: Members
    })
  | (FlatTask & {
      readonly status: 'failed'
      /** The error that the request ended with. */
      readonly error: ErrorObject
    })
