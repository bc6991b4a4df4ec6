import type { Members } from '../../mcp/types/base.ts'
import type { InputRequests } from '../../mcp/types/input.ts'
import type { TaskStatus } from '../../mcp/types/tasks.ts'

/** A task as it is kept: JSON, and nothing of the process that carries it out. */
export interface TaskRecord {
  /** Cannot be guessed, and is never used twice. */
  readonly id: string
  /** The tool that was called. */
  readonly tool: string
  /** Which of the protocol's two designs it was made in. */
  readonly design: 'core' | 'extension'
  /** Whose task it is; absent where nobody has established who calls. */
  readonly principal?: string
  /** Stands for the session that made it, where there is one and no principal. */
  readonly session?: string
  readonly status: TaskStatus
  /** The status in words. */
  readonly message?: string
  /** An ISO 8601 time. */
  readonly createdAt: string
  /** An ISO 8601 time. */
  readonly updatedAt: string
  /** How long it is kept from its creation. */
  readonly ttlMs: number
  /** What the call gave, once it is over. */
  readonly result?: Members
  /** Or how it failed. */
  readonly error?: TaskError
  /** What it waits to be told. */
  readonly questions?: InputRequests
}

/** An error as it is kept: which number it has on the wire is decided when it is told. */
export interface TaskError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
  readonly kind?: string
}

/** Whose tasks: those of a principal, or without one those of a session, or those of neither. */
export type TaskOwner = Pick<TaskRecord, 'principal' | 'session'>

/**
 * Keeps tasks. Every answer may come at once or later. The store forgets a task when its time is up,
 * finished or not, and no sooner.
 *
 * A store may be shared by several processes: each of them tells of every task, and the one that
 * carries a task out learns that it was ended elsewhere when it next writes.
 */
export interface TaskStore {
  /**
   * Settles once `get` finds the task. Throws `errors.maxConcurrentTasks()` when there is no room for
   * it.
   */
  add(record: TaskRecord): void | Promise<void>
  /** The task with this id; undefined when there is none, or its time is up. */
  get(id: string): TaskRecord | undefined | Promise<TaskRecord | undefined>
  /**
   * Replaces a task that is there and not over, and gives true. Otherwise changes nothing and gives
   * false: what is over stays as it is.
   */
  put(record: TaskRecord): boolean | Promise<boolean>
  /** The tasks of one owner, oldest first. */
  list(owner: TaskOwner): readonly TaskRecord[] | Promise<readonly TaskRecord[]>
}
