import type { CallOptions } from '../../jsonrpc/handler.ts'
import type { TaskStatus } from '../../mcp/types/tasks.ts'
import { isRecord } from '../../util/record.ts'
import { isStatus } from '../changes/changes.ts'
import { unreadable } from '../errors.ts'
import type { ToolAnswer } from '../results.ts'

/** How far a task has come. */
export interface TaskUpdate {
  readonly status: TaskStatus
  readonly message: string | undefined
}

/** What is known of a task, whichever way its design spells it. */
export interface TaskFacts extends TaskUpdate {
  readonly id: string
  /** How long to wait between two looks, as the server wishes. */
  readonly pollMs: number | undefined
}

/** Reads a task. Throws a ChannelError `'framing'` for anything else. */
export function taskFacts(value: unknown): TaskFacts {
  const { taskId, status, statusMessage, pollInterval, pollIntervalMs } = isRecord(value)
    ? value
    : {}
  if (typeof taskId !== 'string' || !isStatus(status)) throw unreadable('tasks', 'this is no task')
  const pollMs = pollIntervalMs ?? pollInterval
  return {
    id: taskId,
    status,
    message: typeof statusMessage === 'string' ? statusMessage : undefined,
    pollMs: typeof pollMs === 'number' && pollMs >= 0 ? pollMs : undefined,
  }
}

/** A call that goes on by itself, and can be asked about at any time. */
export interface TaskHandle {
  /** Good for as long as the server keeps the task. Undefined if the tool was done at once. */
  readonly id: string | undefined
  readonly status: TaskUpdate['status']
  /** The status in words, for people. */
  readonly message: string | undefined
  /**
   * What the tool gave, when it is done. Looks at the task from time to time, and answers its questions.
   * Rejects with an RpcError when the task failed or was cancelled. Giving up leaves the task running.
   */
  result(options?: CallOptions): Promise<ToolAnswer>
  /** Has the server stop it. Settles also if it was over by then. */
  cancel(): Promise<void>
  /** How it comes along, the present state first, until it is over. */
  readonly updates: AsyncIterable<TaskUpdate>
}
