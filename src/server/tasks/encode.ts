import { RpcError } from '../../jsonrpc/error.ts'
import type { ErrorObject } from '../../jsonrpc/message.ts'
import { metaKeys } from '../../mcp/meta.ts'
import type { DetailedTask, FlatTask, Task } from '../../mcp/types/tasks.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import type { NamedParams } from '../request.ts'
import type { TaskError, TaskRecord } from './store.ts'

/** Encodes a task for revision 2025-11-25. */
export function coreTask(record: TaskRecord, pollMs: number): Task {
  const { id, status, message, createdAt, updatedAt, ttlMs } = record
  return {
    taskId: id,
    status,
    statusMessage: message,
    createdAt,
    lastUpdatedAt: updatedAt,
    ttl: ttlMs,
    pollInterval: pollMs,
  }
}

/** Encodes a task for the extension, without the members that depend on its status. */
export function flatTask(record: TaskRecord, pollMs: number): FlatTask {
  const { ttl, pollInterval, ...rest } = coreTask(record, pollMs)
  return { ...rest, ttlMs: ttl, pollIntervalMs: pollInterval }
}

/** Encodes a task for the extension, with its result, its error or its input requests. */
export function detailedTask(
  record: TaskRecord,
  pollMs: number,
  toWire: (error: RpcError) => ErrorObject,
): DetailedTask {
  const task = flatTask(record, pollMs)
  const { status, inputRequests = {}, result = {} } = record
  switch (status) {
    case 'input_required':
      return { ...task, status, inputRequests }
    case 'completed':
      return { ...task, status, result: { resultType: 'complete', ...result } }
    case 'failed':
      // A tool that failed in the core design has a result and no error: the extension calls that completed.
      return record.error === undefined
        ? { ...task, status: 'completed', result: { resultType: 'complete', ...result } }
        : { ...task, status, error: toWire(errorOf(record.error)) }
    default:
      return { ...task, status }
  }
}

/** Adds the `_meta` that relates a message to a task in revision 2025-11-25 to its own `_meta`. */
export function relatedTo<T extends object>(
  taskId: string,
  message: T | undefined,
): T & { _meta: object } {
  const meta = message !== undefined && '_meta' in message ? message._meta : undefined
  const _meta = { ...(isRecord(meta) ? meta : {}), [metaKeys.relatedTask]: { taskId } }
  // The check: only `_meta` is added to the message.
  return { ...message, _meta } as T & { _meta: object }
}

/** Restores an error from its record. */
export function errorOf({ code, message, data, kind }: TaskError): RpcError {
  return new RpcError(code, message, { data, kind })
}

/** The record of an error. */
export function errorRecord({ code, message, data, kind }: RpcError): TaskError {
  return { code, message, data, kind }
}

/** The status message for a tool result that is an error. */
export function failureMessage(result: NamedParams): string | undefined {
  // The result of a local tool was checked before; the result of an upstream server may be anything.
  const { content } = result
  if (!Array.isArray(content)) return undefined
  const first: unknown = content.find(block => isRecord(block) && block.type === 'text')
  return isRecord(first) && typeof first.text === 'string' ? shortened(first.text) : undefined
}

/** Cuts a text to the limit of status messages. */
export function shortened(text: string): string {
  const max = limits.taskMessageLength.default
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`
}
