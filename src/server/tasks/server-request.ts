import type { Calls } from '../../jsonrpc/handler.ts'
import type { Caller } from '../../mcp/caller.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { taskCapability } from '../../mcp/methods.ts'
import type { InputRequest } from '../../mcp/types/input.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { abortable } from '../../util/promises.ts'
import { sleep } from '../../util/time/sleep.ts'
import type { ServerSession } from '../core/session.ts'
import type { ServerRequestTask } from './scope.ts'

/** The options of `sendServerRequest`. */
export interface SendRequestOptions {
  readonly caller: Caller
  readonly session: ServerSession | undefined
  readonly signal: AbortSignal
  /** Asks the client to answer as a task, where it supports that. */
  readonly task: ServerRequestTask | undefined
  /** How long to wait for a response that is not a task; 0 waits without limit. */
  readonly timeoutMs?: number
}

/**
 * Sends a server request to the client of a session. With `task` the client is asked to answer as a task,
 * where it supports that: the response may then take longer, and survives a lost connection.
 */
export function sendServerRequest(
  calls: Calls,
  request: InputRequest,
  options: SendRequestOptions,
): Promise<unknown> {
  const { task, signal, timeoutMs, session } = options
  if (request.method === 'elicitation/create' && request.params.mode === 'url') {
    session?.elicitations.add(request.params.elicitationId)
  }
  if (task !== undefined && supportsTask(options.caller, request.method)) {
    return sendAsTask(calls, request, task, options)
  }
  return calls.call(request.method, request.params, { signal, timeoutMs })
}

function supportsTask({ revision, capabilities }: Caller, method: InputRequest['method']): boolean {
  const path = revision.features.tasks === 'core' ? taskCapability(method) : undefined
  const requests: unknown = capabilities.tasks?.requests
  if (path === undefined || !isRecord(requests)) return false
  const declared = requests[path.area]
  return isRecord(declared) && declared[path.action] !== undefined
}

async function sendAsTask(
  calls: Calls,
  { method, params }: InputRequest,
  { ttlMs }: ServerRequestTask,
  { signal, session, timeoutMs }: SendRequestOptions,
): Promise<unknown> {
  const withTask = { ...params, task: { ttl: ttlMs } }
  const created = await calls.call(method, withTask, { signal, timeoutMs })
  // The client may ignore that and send the response itself.
  if (!isRecord(created) || !isRecord(created.task)) return created
  const { taskId } = created.task
  if (typeof taskId !== 'string') {
    throw new Error(`the client accepted ${method} as a task but returned no task id`)
  }
  try {
    let task: unknown = created.task
    while (isWorking(task)) {
      await untilNextPoll(task, taskId, session, signal)
      task = await calls.call('tasks/get', { taskId }, { signal })
    }
    if (isRecord(task) && task.status === 'cancelled') throw errors.taskCancelled({ taskId })
    // Also where the client requires input first: it requests that while its result is awaited.
    return await calls.call('tasks/result', { taskId }, { signal, timeoutMs: 0 })
  } catch (error) {
    if (signal.aborted) calls.call('tasks/cancel', { taskId }).then(undefined, () => {})
    throw error
  }
}

function isWorking(task: unknown): task is { readonly pollInterval?: unknown } {
  return isRecord(task) && task.status === 'working'
}

/** Waits for the poll interval of the client, within limits, or until the client reports a change. */
async function untilNextPoll(
  { pollInterval }: { readonly pollInterval?: unknown },
  taskId: string,
  session: ServerSession | undefined,
  signal: AbortSignal,
): Promise<void> {
  const wantedMs = typeof pollInterval === 'number' ? pollInterval : limits.taskPollMs.default
  const { done, wake } = sleep(Math.max(wantedMs, limits.taskPollMinMs.default))
  session?.taskWakeups.set(taskId, wake)
  try {
    await abortable(done, signal)
  } finally {
    session?.taskWakeups.delete(taskId)
    wake()
  }
}
