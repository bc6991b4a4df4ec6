import type { Calls } from '../../jsonrpc/handler.ts'
import type { Caller } from '../../mcp/caller.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { InputRequest } from '../../mcp/types/input.ts'
import { orAborted } from '../../util/abort.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'
import { pause } from '../../util/time/wait.ts'
import type { Session } from '../core/session.ts'
import type { QuestionTask } from './scope.ts'

/** What putting a question to a client takes. */
export interface Asked {
  readonly caller: Caller
  readonly session: Session | undefined
  readonly signal: AbortSignal
  readonly task: QuestionTask | undefined
  /** How long to wait for an answer that is no task. */
  readonly timeoutMs?: number
}

/**
 * Puts a question to the client of a session: as a task where that is wished and the client takes it
 * so, which lets the answer take its time and survive whatever waits for it.
 */
export function putQuestion(calls: Calls, question: InputRequest, asked: Asked): Promise<unknown> {
  const { task, signal, timeoutMs, session } = asked
  if (question.method === 'elicitation/create' && question.params.mode === 'url') {
    session?.elicitations.add(question.params.elicitationId)
  }
  if (task !== undefined && takesTask(asked.caller, question.method)) {
    return putAsTask(calls, question, task, asked)
  }
  return calls.call(question.method, question.params, { signal, timeoutMs })
}

function takesTask({ revision, capabilities }: Caller, method: InputRequest['method']): boolean {
  if (revision.features.tasks !== 'core') return false
  const requests = capabilities.tasks?.requests
  if (method === 'elicitation/create') return requests?.elicitation?.create !== undefined
  return method === 'sampling/createMessage' && requests?.sampling?.createMessage !== undefined
}

async function putAsTask(
  calls: Calls,
  { method, params }: InputRequest,
  { ttlMs }: QuestionTask,
  { signal, session, timeoutMs }: Asked,
): Promise<unknown> {
  const wish = { ...params, task: { ttl: ttlMs } }
  const created = await calls.call(method, wish, { signal, timeoutMs })
  // Whoever does not take it as a task answers as usual.
  if (!isRecord(created) || !isRecord(created.task)) return created
  const { taskId } = created.task
  if (typeof taskId !== 'string') {
    throw new Error(`the client took ${method} as a task and did not say its id`)
  }
  try {
    let task: unknown = created.task
    while (isUnderWay(task)) {
      await rest(task, taskId, session, signal)
      task = await calls.call('tasks/get', { taskId }, { signal })
    }
    if (isRecord(task) && task.status === 'cancelled') throw errors.taskCancelled({ taskId })
    // Also where the client needs something first: it asks for it while its result is waited for.
    return await calls.call('tasks/result', { taskId }, { signal, timeoutMs: 0 })
  } catch (error) {
    if (signal.aborted) calls.call('tasks/cancel', { taskId }).then(undefined, () => {})
    throw error
  }
}

function isUnderWay(task: unknown): task is { readonly pollInterval?: unknown } {
  return isRecord(task) && task.status === 'working'
}

/** Until the next look: as long as the client wishes, within reason, or until there are news. */
async function rest(
  { pollInterval }: { readonly pollInterval?: unknown },
  taskId: string,
  session: Session | undefined,
  signal: AbortSignal,
): Promise<void> {
  const wantedMs = typeof pollInterval === 'number' ? pollInterval : limits.taskPollMs.default
  const { over, end } = pause(Math.max(wantedMs, limits.taskPollMinMs.default))
  session?.taskNews.set(taskId, end)
  try {
    await orAborted(over, signal)
  } finally {
    session?.taskNews.delete(taskId)
    end()
  }
}
