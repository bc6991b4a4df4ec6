import { invalidParams, type RpcError } from '../../jsonrpc/error.ts'
import type { Caller } from '../../mcp/caller.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { toWire } from '../../mcp/errors/wire.ts'
import { missingExtension, tasksExtension } from '../../mcp/extension.ts'
import type { Profile } from '../../mcp/profile.ts'
import { type DetailedTask, isFinal } from '../../mcp/types/tasks.ts'
import { isRecord } from '../../util/objects.ts'
import { type IncomingRequest, type NamedParams, stringParam } from '../request.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'
import { detailedTask, flatTask } from './encode.ts'
import { declaresTasks } from './mode.ts'
import type { TaskRegistry } from './registry.ts'
import type { TaskDesign, TaskRun } from './run.ts'
import type { TaskRecord } from './store.ts'

/** What the tasks of the extension need from their endpoint. */
export interface ExtensionTasksHost {
  readonly profile: Profile
  readonly subscriptions: Subscriptions
}

/**
 * The tasks of the extension of revision 2026-07-28: the server decides what becomes a task, the caller
 * polls `tasks/get` or listens, and answers input requests by `tasks/update`.
 */
export class ExtensionTasks implements TaskDesign {
  readonly name = 'extension'
  readonly #host: ExtensionTasksHost
  readonly #registry: TaskRegistry

  constructor(host: ExtensionTasksHost, registry: TaskRegistry) {
    this.#host = host
    this.#registry = registry
  }

  created(record: TaskRecord): NamedParams {
    return { resultType: 'task', ...flatTask(record, this.#registry.pollMs) }
  }

  changed(run: TaskRun, record: TaskRecord): void {
    const params = { ...this.#detailed(record, run.request.caller) }
    this.#host.subscriptions.publish({ type: 'task', taskId: record.id, params })
  }

  /** Answers `tasks/get`. */
  async get(request: IncomingRequest): Promise<NamedParams> {
    return { ...this.#detailed(await this.#find(request), request.caller) }
  }

  /** Answers `tasks/cancel`. A task that is final already is left as it is. */
  async cancel(request: IncomingRequest): Promise<NamedParams> {
    const record = await this.#find(request)
    if (!isFinal(record.status)) await this.#registry.cancel(record)
    return {}
  }

  /** Answers `tasks/update`: delivers the responses to the input requests of a task. */
  async update(request: IncomingRequest): Promise<NamedParams> {
    const { id } = await this.#find(request)
    const { inputResponses } = request.params
    if (!isRecord(inputResponses)) {
      const details = 'inputResponses must be an object'
      throw invalidParams(details, { data: { details } })
    }
    const run = this.#registry.running.get(id)
    if (run !== undefined) await run.respond(inputResponses)
    else await this.#registry.store.respond?.(id, inputResponses)
    return {}
  }

  /**
   * Returns the current state of those of the given tasks that the caller may see. Throws where the
   * caller has not declared the extension.
   */
  async visibleTasks(
    caller: Caller,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, DetailedTask>> {
    if (!declaresTasks(caller)) throw missingExtension(tasksExtension)
    const found = await Promise.all(ids.map(id => this.#registry.find(id, caller)))
    const tasks = new Map<string, DetailedTask>()
    for (const record of found) {
      if (record !== undefined) tasks.set(record.id, this.#detailed(record, caller))
    }
    return tasks
  }

  #detailed(record: TaskRecord, { revision }: Caller): DetailedTask {
    const { profile } = this.#host
    const wire = (error: RpcError) => toWire(error, { profile, revision })
    return detailedTask(record, this.#registry.pollMs, wire)
  }

  /**
   * The task of a request. A caller that has not declared the extension, but the tasks of revision
   * 2025-11-25, may still look at tasks that were created in that design, and cancel them.
   */
  async #find({ caller, params, method }: IncomingRequest): Promise<TaskRecord> {
    const isDeclared = declaresTasks(caller)
    const isOlder = caller.capabilities.tasks !== undefined && method !== 'tasks/update'
    if (!isDeclared && !isOlder) throw missingExtension(tasksExtension)
    const taskId = stringParam(params, 'taskId')
    const record = await this.#registry.find(taskId, caller)
    if (!isDeclared && record?.design !== 'core') throw missingExtension(tasksExtension)
    if (record === undefined) throw errors.taskNotFound({ taskId })
    return record
  }
}
