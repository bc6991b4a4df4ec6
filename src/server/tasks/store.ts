import type { Members } from '../../mcp/types/base.ts'
import type { InputRequests } from '../../mcp/types/input.ts'
import type { TaskStatus } from '../../mcp/types/tasks.ts'

/** A task as a store keeps it: JSON, without anything of the process that runs it. */
export interface TaskRecord {
  /** Cannot be guessed, and is never used twice. */
  readonly id: string
  /** The tool that was called. */
  readonly tool: string
  /** The design of the protocol that the task was created in: 2025-11-25, or the extension of 2026-07-28. */
  readonly design: 'core' | 'extension'
  /** The principal that owns the task; absent where callers are not authenticated. */
  readonly principal?: string
  /** The key of the session that created the task, where there is a session and no principal. */
  readonly session?: string
  /** The client address that the task counts for, where there is neither a principal nor a session. */
  readonly address?: string
  /** The memory that the arguments of the call take while the task is not final, in bytes. */
  readonly argumentBytes?: number
  /** Whether the task is working, waits for input, or has finished, and how. */
  readonly status: TaskStatus
  /** The status message. */
  readonly message?: string
  /** An ISO 8601 time. */
  readonly createdAt: string
  /** An ISO 8601 time. */
  readonly updatedAt: string
  /** How long the task is kept from its creation. */
  readonly ttlMs: number
  /** The result of the call, once it is complete. */
  readonly result?: Members
  /** The error of the call, if it failed. */
  readonly error?: TaskError
  /** The input requests that are open, by their keys. */
  readonly inputRequests?: InputRequests
  /**
   * The ISO 8601 time at which the lease of the process that runs the task expires. A task that is not
   * final then has failed: its process has ended. Absent in the store in memory.
   */
  readonly leaseUntil?: string
}

/** An error as a store keeps it. Its code on the wire depends on the revision of the reader. */
export interface TaskError {
  /** The code of the error. */
  readonly code: number
  /** One line about the error, for people. */
  readonly message: string
  /** Further details of the error. */
  readonly data?: unknown
  /** The name of the error in the error catalog, if it has one. */
  readonly kind?: string
}

/** The owner of tasks: a principal, or without one a session, or neither. */
export type TaskOwner = Pick<TaskRecord, 'principal' | 'session'>

/**
 * Stores tasks. Every method may return its result or a promise of it. The store deletes a task when its
 * time to live is over, finished or not. It may delete final tasks sooner, the oldest first.
 *
 * Several processes may share a store: each of them answers requests for every task, and the process
 * that runs a task learns that it was ended elsewhere when it next writes. That process writes at least
 * every third of `taskLeaseMs`; when it stops, the next process that reads the task writes it as failed.
 * The clocks of these processes must agree within a fraction of that time.
 */
export interface TaskStore {
  /**
   * Adds a task, and settles once `get` finds it. Throws `errors.maxConcurrentTasks()` where the limit
   * of tasks is reached.
   */
  add(record: TaskRecord): void | Promise<void>
  /** Returns the task with this id; undefined where there is none, or its time to live is over. */
  get(id: string): TaskRecord | undefined | Promise<TaskRecord | undefined>
  /**
   * Replaces a task that exists and is not final, and returns true. Otherwise changes nothing and returns
   * false: a final task never changes.
   */
  put(record: TaskRecord): boolean | Promise<boolean>
  /** Returns the tasks of one owner, oldest first. */
  list(owner: TaskOwner): readonly TaskRecord[] | Promise<readonly TaskRecord[]>
  /**
   * Delivers the responses of a client to the process that runs a task, and resolves when it has got them; to false if
   * no process confirms that. Absent where a store belongs to one process.
   */
  respond?(id: string, responses: Members): Promise<boolean>
  /**
   * Calls the listener with the responses that other processes deliver for a task of this process. Resolves, when none
   * is missed any more, to a function that ends this. Absent where a store belongs to one process.
   */
  receive?(id: string, listener: (responses: Members) => Promise<void>): Promise<() => void>
}
