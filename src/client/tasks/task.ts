import type { CallOptions } from '../../jsonrpc/handler.ts'
import type { ToolAnswer } from '../../mcp/content/tool-answer.ts'
import type { TaskStatus } from '../../mcp/types/tasks.ts'
import { isRecord } from '../../util/objects.ts'
import { isStatus } from '../changes/changes.ts'
import { invalidResponse } from '../errors.ts'

/** The status of a task. */
export interface TaskUpdate {
  /** The status of the task: working, waiting for input, or finished. */
  readonly status: TaskStatus
  /** A description of the status for users; undefined if the server gave none. */
  readonly message: string | undefined
}

/** A task as either task design of the protocol describes it. */
export interface TaskInfo extends TaskUpdate {
  readonly id: string
  /** The poll interval that the server suggests, in milliseconds. */
  readonly pollMs: number | undefined
}

/** Reads a task of either design. Throws a ChannelError `'framing'` for anything else. */
export function readTask(value: unknown): TaskInfo {
  const { taskId, status, statusMessage, pollInterval, pollIntervalMs } = isRecord(value)
    ? value
    : {}
  if (typeof taskId !== 'string' || !isStatus(status))
    throw invalidResponse('tasks', 'the result is not a task')
  const pollMs = pollIntervalMs ?? pollInterval
  return {
    id: taskId,
    status,
    message: typeof statusMessage === 'string' ? statusMessage : undefined,
    pollMs: typeof pollMs === 'number' && pollMs >= 0 ? pollMs : undefined,
  }
}

/** A handle of a tool call that runs as a task. `Structured` is the type of its structured content. */
export interface TaskHandle<Structured = unknown> {
  /** Valid for as long as the server keeps the task. Undefined if the tool finished at once. */
  readonly id: string | undefined
  /** The status of the task as last reported by the server. */
  readonly status: TaskUpdate['status']
  /** A description of the status for users. */
  readonly message: string | undefined
  /**
   * Settles with the result of the tool. Polls the task meanwhile, and handles its input requests. Rejects
   * with an RpcError if the task failed or was cancelled. A timeout or an abort leaves the task running.
   */
  result(options?: CallOptions): Promise<ToolAnswer<Structured>>
  /** Cancels the task on the server. Settles also if the task had finished by then. */
  cancel(): Promise<void>
  /** Yields the current status and each change of it, until the task has finished. */
  readonly updates: AsyncIterable<TaskUpdate>
}
