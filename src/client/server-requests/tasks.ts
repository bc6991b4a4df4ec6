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
import { type Deferred, deferred } from '../../util/deferred.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'
import { type Timed, timed } from '../../util/time/deadline.ts'
import type { Link } from '../connection/connection.ts'
import type { Settings } from '../settings.ts'

/** A question that is being answered while nobody waits. */
interface Asked {
  readonly link: Link
  readonly stop: AbortController
  readonly outcome: Deferred<object>
  readonly expiry: Timed
  task: Task
}

/**
 * Questions that a server asked as tasks, in the session revision where both sides may do that: the
 * server is told at once that they will be answered, and comes back for the answers.
 */
export class AskedTasks {
  readonly #settings: Settings
  readonly #asked = new Map<string, Asked>()

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /**
   * Begins to answer. The server that asked, and no other, may ask for the task. Throws what `prepare`
   * throws, which looks at the question and gives what answers it.
   */
  begin(
    link: Link,
    metadata: unknown,
    prepare: (signal: AbortSignal) => () => Promise<object>,
  ): CreateTaskResult {
    if (this.#of(link).length >= limits.askedTasks.default) throw errors.maxConcurrentTasks()
    const wanted = isRecord(metadata) ? metadata.ttl : undefined
    const longest = limits.askedTaskMs.default
    const ttl = typeof wanted === 'number' && wanted >= 0 ? Math.min(wanted, longest) : longest
    const now = new Date().toISOString()
    const stop = new AbortController()
    const answer = prepare(stop.signal)
    const asked: Asked = {
      link,
      stop,
      outcome: deferred(),
      expiry: timed(() => this.#drop(asked)),
      task: {
        taskId: crypto.randomUUID(),
        status: 'working',
        createdAt: now,
        lastUpdatedAt: now,
        ttl,
        pollInterval: limits.taskPollMs.default,
      },
    }
    // Nobody need ever come for it.
    asked.outcome.promise.then(undefined, () => {})
    this.#asked.set(asked.task.taskId, asked)
    this.#settings.deadlines.start(asked.expiry, ttl)
    void this.#answer(asked, answer)
    return { task: asked.task }
  }

  /** Answers what a server wants to know of its tasks. */
  handle(link: Link, method: string, params: unknown): unknown {
    if (method === 'tasks/list') return this.#list(link)
    const asked = this.#find(link, params)
    switch (method) {
      case 'tasks/get':
        return asked.task
      case 'tasks/result':
        return this.#result(asked)
      case 'tasks/cancel':
        return this.#cancel(asked)
      default:
        throw methodNotFound(method)
    }
  }

  /** A connection is over, and with it whoever could ask. */
  forget(link: Link): void {
    for (const asked of this.#of(link)) this.#drop(asked)
  }

  async #answer(asked: Asked, answer: () => Promise<object>): Promise<void> {
    try {
      const result = await answer()
      this.#finish(asked, 'completed', () => asked.outcome.resolve(result))
    } catch (error) {
      // Only what was thrown for the server to see is shown to it.
      const isMeant = error instanceof RpcError
      if (!isMeant && !asked.stop.signal.aborted) this.#settings.onError(error)
      const shown = isMeant ? error : errors.internalError()
      this.#finish(asked, 'failed', () => asked.outcome.reject(shown))
    }
  }

  #finish(asked: Asked, status: TaskStatus, settle: () => void): void {
    if (isFinal(asked.task.status)) return
    asked.task = { ...asked.task, status, lastUpdatedAt: new Date().toISOString() }
    settle()
    if (this.#asked.has(asked.task.taskId)) {
      asked.link.notify('notifications/tasks/status', asked.task)
    }
  }

  async #result({ outcome, task }: Asked): Promise<object> {
    const result = await outcome.promise
    const meta = '_meta' in result && isRecord(result._meta) ? result._meta : {}
    return { ...result, _meta: { ...meta, [metaKeys.relatedTask]: { taskId: task.taskId } } }
  }

  #cancel(asked: Asked): Task {
    const { taskId, status } = asked.task
    if (isFinal(status)) throw invalidParams(`the task is ${status}`, { data: { taskId } })
    const error = errors.taskCancelled({ taskId })
    this.#finish(asked, 'cancelled', () => asked.outcome.reject(error))
    asked.stop.abort(error)
    return asked.task
  }

  #list(link: Link): ListTasksResult {
    return { tasks: this.#of(link).map(({ task }) => task) }
  }

  #find(link: Link, params: unknown): Asked {
    const taskId = isRecord(params) ? params.taskId : undefined
    const asked = typeof taskId === 'string' ? this.#asked.get(taskId) : undefined
    if (asked?.link === link) return asked
    throw invalidParams('there is no such task', { data: { taskId } })
  }

  #of(link: Link): Asked[] {
    return [...this.#asked.values()].filter(asked => asked.link === link)
  }

  #drop(asked: Asked): void {
    this.#settings.deadlines.stop(asked.expiry)
    this.#asked.delete(asked.task.taskId)
    const error = errors.taskCancelled({ taskId: asked.task.taskId })
    this.#finish(asked, 'cancelled', () => asked.outcome.reject(error))
    asked.stop.abort(error)
  }
}
