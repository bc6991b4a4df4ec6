import { RpcError } from '../../jsonrpc/error.ts'
import type { ErrorObject } from '../../jsonrpc/message.ts'
import { metaKeys } from '../../mcp/meta.ts'
import type { DetailedTask, FlatTask, Task } from '../../mcp/types/tasks.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'
import type { Params } from '../request.ts'
import type { TaskError, TaskRecord } from './store.ts'

/** A task as the session revisions say it. */
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

/** A task as the extension says it, without what its status brings along. */
export function flatTask(record: TaskRecord, pollMs: number): FlatTask {
  const { ttl, pollInterval, ...rest } = coreTask(record, pollMs)
  return { ...rest, ttlMs: ttl, pollIntervalMs: pollInterval }
}

/** A task as the extension says it, with its result, its error or its questions. */
export function detailedTask(
  record: TaskRecord,
  pollMs: number,
  toWire: (error: RpcError) => ErrorObject,
): DetailedTask {
  const task = flatTask(record, pollMs)
  const { status, questions = {}, result = {} } = record
  switch (status) {
    case 'input_required':
      return { ...task, status, inputRequests: questions }
    case 'completed':
      return { ...task, status, result: { resultType: 'complete', ...result } }
    case 'failed':
      // A tool that failed within a session has a result and no error: here it is completed.
      return record.error === undefined
        ? { ...task, status: 'completed', result: { resultType: 'complete', ...result } }
        : { ...task, status, error: toWire(thrown(record.error)) }
    default:
      return { ...task, status }
  }
}

/** What ties a message to a task in the session revisions, beside whatever `_meta` it has. */
export function relatedTo<T extends object>(
  taskId: string,
  message: T | undefined,
): T & { _meta: object } {
  const meta = message !== undefined && '_meta' in message ? message._meta : undefined
  const _meta = { ...(isRecord(meta) ? meta : {}), [metaKeys.relatedTask]: { taskId } }
  // The check: only `_meta` is added to what was there.
  return { ...message, _meta } as T & { _meta: object }
}

/** An error that was kept, as it was thrown. */
export function thrown({ code, message, data, kind }: TaskError): RpcError {
  return new RpcError(code, message, { data, kind })
}

/** An error as it can be kept. */
export function kept({ code, message, data, kind }: RpcError): TaskError {
  return { code, message, data, kind }
}

/** Why a tool's result is a failure, in words for the status. */
export function whyFailed(result: Params): string | undefined {
  // What the code of a tool returned has become a result before; what a server behind a router says may
  // be anything.
  const { content } = result
  if (!Array.isArray(content)) return undefined
  const first: unknown = content.find(block => isRecord(block) && block.type === 'text')
  return isRecord(first) && typeof first.text === 'string' ? short(first.text) : undefined
}

/** Words that fit into a status. */
export function short(text: string): string {
  const longest = limits.taskMessage.default
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`
}
