import { errors } from '../../mcp/errors/constructors.ts'
import { isFinal } from '../../mcp/types/tasks.ts'
import { abortable } from '../../util/promises.ts'
import { sleep } from '../../util/time/sleep.ts'
import { type Cursors, pageOf } from '../features/pagination.ts'
import { type IncomingRequest, type NamedParams, stringParam } from '../request.ts'
import { coreTask, errorOf, relatedTo } from './encode.ts'
import type { TaskRegistry } from './registry.ts'
import type { TaskDesign, TaskRun } from './run.ts'
import type { TaskRecord } from './store.ts'

/** What the tasks of revision 2025-11-25 need from their endpoint. */
export interface CoreTasksHost {
  readonly pageSize: number
  readonly cursors: Cursors
}

/**
 * The tasks in the core of revision 2025-11-25: the caller requests them, waits for `tasks/result`, and
 * answers server requests by calls on its session.
 */
export class CoreTasks implements TaskDesign {
  readonly name = 'core'
  readonly #host: CoreTasksHost
  readonly #registry: TaskRegistry

  constructor(host: CoreTasksHost, registry: TaskRegistry) {
    this.#host = host
    this.#registry = registry
  }

  created(record: TaskRecord): NamedParams {
    return { task: coreTask(record, this.#registry.pollMs) }
  }

  changed(run: TaskRun, record: TaskRecord): void {
    run.replyPath.notify('notifications/tasks/status', coreTask(record, this.#registry.pollMs))
  }

  /** Answers `tasks/get`. */
  async get(request: IncomingRequest): Promise<NamedParams> {
    return { ...coreTask(await this.#find(request), this.#registry.pollMs) }
  }

  /** Answers `tasks/result`: waits until the task is final, and returns the result of its call. */
  async result(request: IncomingRequest): Promise<NamedParams> {
    let record = await this.#find(request)
    while (!isFinal(record.status)) {
      await this.#untilFinal(record, request)
      record = await this.#find(request)
    }
    if (record.error !== undefined) throw errorOf(record.error)
    if (record.result === undefined) throw errors.taskCancelled({ taskId: record.id })
    return relatedTo(record.id, record.result)
  }

  /** Answers `tasks/list` with the tasks of the caller. */
  async list(request: IncomingRequest): Promise<NamedParams> {
    const owner = this.#registry.ownerOf(request)
    const all = await this.#registry.list(owner, request.caller)
    const { cursors, pageSize } = this.#host
    const binding = `tasks ${JSON.stringify(owner)}`
    const { items, nextCursor } = await pageOf(all, binding, request.params, cursors, pageSize)
    const tasks = items.map(record => coreTask(record, this.#registry.pollMs))
    return nextCursor === undefined ? { tasks } : { tasks, nextCursor }
  }

  /** Answers `tasks/cancel`. Throws where the task was final already. */
  async cancel(request: IncomingRequest): Promise<NamedParams> {
    const record = await this.#find(request)
    const isCancelled = !isFinal(record.status) && (await this.#registry.cancel(record))
    const now = await this.#find(request)
    if (isCancelled && now.status === 'cancelled') {
      return { ...coreTask(now, this.#registry.pollMs) }
    }
    const message = `The task is already ${now.status}`
    throw errors.taskAlreadyCompleted({ taskId: now.id }, { message })
  }

  /** Waits until a task is final. Meanwhile its server requests go to the request that waits. */
  async #untilFinal(record: TaskRecord, { exchange }: IncomingRequest): Promise<void> {
    const run = this.#registry.running.get(record.id)
    const { signal, back, notify } = exchange
    if (run === undefined) {
      // Another process runs it: poll the store.
      const { done, wake } = sleep(this.#registry.pollMs, this.#registry.clock)
      await abortable(done, signal).finally(wake)
      return
    }
    const calls = back && {
      call: back.call.bind(back),
      notify: (method: string, params?: object) => notify(method, params),
    }
    if (calls !== undefined) run.replyPath.join(calls)
    try {
      await abortable(run.finished, signal)
    } finally {
      if (calls !== undefined) run.replyPath.leave(calls)
    }
  }

  async #find({ caller, params }: IncomingRequest): Promise<TaskRecord> {
    const taskId = stringParam(params, 'taskId')
    const record = await this.#registry.find(taskId, caller)
    if (record === undefined) throw errors.taskNotFound({ taskId })
    return record
  }
}
