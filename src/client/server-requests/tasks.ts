import { invalidParams, methodNotFound, RpcError } from '../../jsonrpc/error.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { metaKeys } from '../../mcp/meta.ts'
import {
  type CreateTaskResult,
  isFinal,
  type ListTasksResult,
  type Task,
  type TaskStatus,
} from '../../mcp/types/tasks.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { type Deferred, deferred } from '../../util/promises.ts'
import { type Timed, timed } from '../../util/time/deadline.ts'
import type { Connection } from '../connection/connection.ts'
import type { Settings } from '../settings.ts'

/** A server request that runs as a task. */
interface RequestTask {
  readonly connection: Connection
  readonly stop: AbortController
  readonly outcome: Deferred<object>
  readonly expiry: Timed
  task: Task
}

/**
 * Server requests that run as tasks, in the session revision that has them: the server gets a task at once,
 * and fetches the result later.
 */
export class ServerRequestTasks {
  readonly #settings: Settings
  readonly #tasks = new Map<string, RequestTask>()

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /**
   * Starts a task. Only the connection that sent the request can access the task. `prepare` validates the
   * request and returns the function that handles it; what it throws is rethrown.
   */
  begin(
    connection: Connection,
    metadata: unknown,
    prepare: (signal: AbortSignal) => () => Promise<object>,
  ): CreateTaskResult {
    if (this.#of(connection).length >= limits.serverRequestTasks.default)
      throw errors.maxConcurrentTasks()
    const wanted = isRecord(metadata) ? metadata.ttl : undefined
    const longest = limits.serverRequestTaskMs.default
    const ttl = typeof wanted === 'number' && wanted >= 0 ? Math.min(wanted, longest) : longest
    const now = new Date().toISOString()
    const stop = new AbortController()
    const answer = prepare(stop.signal)
    const entry: RequestTask = {
      connection,
      stop,
      outcome: deferred(),
      expiry: timed(() => this.#drop(entry)),
      task: {
        taskId: crypto.randomUUID(),
        status: 'working',
        createdAt: now,
        lastUpdatedAt: now,
        ttl,
        pollInterval: limits.taskPollMs.default,
      },
    }
    // The server may never fetch the result.
    entry.outcome.promise.then(undefined, () => {})
    this.#tasks.set(entry.task.taskId, entry)
    this.#settings.deadlines.start(entry.expiry, ttl)
    void this.#answer(entry, answer)
    return { task: entry.task }
  }

  /** Handles a `tasks/*` request of the server. */
  handle(connection: Connection, method: string, params: unknown): unknown {
    if (method === 'tasks/list') return this.#list(connection)
    const entry = this.#find(connection, params)
    switch (method) {
      case 'tasks/get':
        return entry.task
      case 'tasks/result':
        return this.#result(entry)
      case 'tasks/cancel':
        return this.#cancel(entry)
      default:
        throw methodNotFound(method)
    }
  }

  /** Drops the tasks of a connection that has closed. */
  forget(connection: Connection): void {
    for (const entry of this.#of(connection)) this.#drop(entry)
  }

  async #answer(entry: RequestTask, answer: () => Promise<object>): Promise<void> {
    try {
      const result = await answer()
      this.#finish(entry, 'completed', () => entry.outcome.resolve(result))
    } catch (error) {
      // Only an RpcError is sent to the server; other errors are internal.
      const isPublic = error instanceof RpcError
      if (!isPublic && !entry.stop.signal.aborted) this.#settings.onError(error)
      const shown = isPublic ? error : errors.internalError()
      this.#finish(entry, 'failed', () => entry.outcome.reject(shown))
    }
  }

  #finish(entry: RequestTask, status: TaskStatus, settle: () => void): void {
    if (isFinal(entry.task.status)) return
    entry.task = { ...entry.task, status, lastUpdatedAt: new Date().toISOString() }
    settle()
    if (this.#tasks.has(entry.task.taskId)) {
      entry.connection.notify('notifications/tasks/status', entry.task)
    }
  }

  async #result({ outcome, task }: RequestTask): Promise<object> {
    const result = await outcome.promise
    const meta = '_meta' in result && isRecord(result._meta) ? result._meta : {}
    return { ...result, _meta: { ...meta, [metaKeys.relatedTask]: { taskId: task.taskId } } }
  }

  #cancel(entry: RequestTask): Task {
    const { taskId, status } = entry.task
    if (isFinal(status)) throw invalidParams(`the task is ${status}`, { data: { taskId } })
    const error = errors.taskCancelled({ taskId })
    this.#finish(entry, 'cancelled', () => entry.outcome.reject(error))
    entry.stop.abort(error)
    return entry.task
  }

  #list(connection: Connection): ListTasksResult {
    return { tasks: this.#of(connection).map(({ task }) => task) }
  }

  #find(connection: Connection, params: unknown): RequestTask {
    const taskId = isRecord(params) ? params.taskId : undefined
    const entry = typeof taskId === 'string' ? this.#tasks.get(taskId) : undefined
    if (entry?.connection === connection) return entry
    throw invalidParams('unknown task', { data: { taskId } })
  }

  #of(connection: Connection): RequestTask[] {
    return [...this.#tasks.values()].filter(entry => entry.connection === connection)
  }

  #drop(entry: RequestTask): void {
    this.#settings.deadlines.stop(entry.expiry)
    this.#tasks.delete(entry.task.taskId)
    const error = errors.taskCancelled({ taskId: entry.task.taskId })
    this.#finish(entry, 'cancelled', () => entry.outcome.reject(error))
    entry.stop.abort(error)
  }
}
