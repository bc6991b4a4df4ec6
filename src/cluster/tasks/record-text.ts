import { errors } from '../../mcp/errors/constructors.ts'
import { errorRecord } from '../../server/tasks/encode.ts'
import type { TaskRecord } from '../../server/tasks/store.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'

/** A task, and the text that stands for it in a backplane. */
export interface StoredTask {
  readonly record: TaskRecord
  readonly text: string
}

/** Returns a task as it is stored. One that is longer than `sharedTaskBytes` fails: no backplane would store it. */
export function storedTask(record: TaskRecord): StoredTask {
  const text = JSON.stringify(record)
  if (new TextEncoder().encode(text).length <= limits.sharedTaskBytes.default) {
    return { record, text }
  }
  const { result: _result, message: _message, inputRequests: _requests, ...rest } = record
  const error = errorRecord(errors.toolResultTooLarge())
  const failed: TaskRecord = { ...rest, status: 'failed', error }
  return { record: failed, text: JSON.stringify(failed) }
}

/** Reads a task from its text. Throws if the text is not that of a task. */
export function readRecord(text: string): TaskRecord {
  const record: unknown = JSON.parse(text)
  if (!isRecord(record) || typeof record.id !== 'string' || typeof record.status !== 'string') {
    throw new Error('a stored task cannot be read: another program has written its record')
  }
  // The check: only `storedTask` writes records of tasks.
  return record as unknown as TaskRecord
}

/** Whether the time to live of a task is over. */
export function isOver({ createdAt, ttlMs }: TaskRecord): boolean {
  return Date.parse(createdAt) + ttlMs <= Date.now()
}

/** The milliseconds until the time to live of a task is over; at least 1. */
export function leftMs({ createdAt, ttlMs }: TaskRecord): number {
  return Math.max(1, Math.ceil(Date.parse(createdAt) + ttlMs - Date.now()))
}

/** The milliseconds until the lease of a running task is over; its time to live if it has none. At least 1. */
export function leaseLeftMs(record: TaskRecord): number {
  const { leaseUntil } = record
  return leaseUntil === undefined
    ? leftMs(record)
    : Math.max(1, Date.parse(leaseUntil) - Date.now())
}
