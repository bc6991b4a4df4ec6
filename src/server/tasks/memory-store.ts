import { errors } from '../../mcp/errors/constructors.ts'
import { isFinal } from '../../mcp/types/tasks.ts'
import { jsonMemory } from '../../util/json-memory.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Clock } from '../../util/time/clock.ts'
import { Expiry } from '../../util/time/expiry.ts'
import { Quota } from './quota.ts'
import type { TaskOwner, TaskRecord, TaskStore } from './store.ts'

/** The options of a memory task store. */
export interface MemoryTaskStoreOptions {
  /** The maximum number of tasks that are not final. */
  readonly max?: number
  /** The maximum for one principal; without one, for one session or one client address. */
  readonly maxPerCaller?: number
  /** The maximum number of final tasks that are kept. The oldest are deleted. */
  readonly maxFinished?: number
  /** The maximum of final tasks for one principal; without one, for one session or one client address. */
  readonly maxFinishedPerCaller?: number
  /** The memory that the arguments of tasks that are not final may take, in bytes; half of it for one caller. */
  readonly maxArgumentBytes?: number
  /** The memory that the results of final tasks may take, in bytes; half of it for one caller. */
  readonly maxFinishedBytes?: number
  /** The clock for the expiry of tasks; for tests. */
  readonly clock?: Clock
}

/**
 * Stores tasks in the memory of this process. They are lost when it exits. Only tasks that are not
 * final can exhaust it: final ones are deleted in favor of newer ones.
 */
export class MemoryTaskStore implements TaskStore {
  readonly #running: Quota
  readonly #finished: Quota
  readonly #expiry: Expiry<string>
  /** In the order of creation. */
  readonly #records = new Map<string, TaskRecord>()

  constructor(options: MemoryTaskStoreOptions = {}) {
    this.#running = new Quota({
      max: options.max ?? limits.tasks.default,
      maxPerCaller: options.maxPerCaller ?? limits.tasksPerCaller.default,
      maxBytes: options.maxArgumentBytes ?? limits.taskBytes.default,
    })
    this.#finished = new Quota({
      max: options.maxFinished ?? limits.finishedTasks.default,
      maxPerCaller: options.maxFinishedPerCaller ?? limits.finishedTasksPerCaller.default,
      maxBytes: options.maxFinishedBytes ?? limits.finishedTaskBytes.default,
    })
    this.#expiry = new Expiry(id => this.#delete(id), options.clock)
  }

  /** The number of tasks, final ones included. */
  get size(): number {
    return this.#records.size
  }

  add(record: TaskRecord): void {
    if (isFinal(record.status)) this.#addFinished(record)
    else {
      this.#running.add(record.id, callerOf(record), record.argumentBytes ?? 0)
      if (this.#running.excess() !== undefined) {
        this.#running.delete(record.id)
        throw errors.maxConcurrentTasks()
      }
    }
    this.#records.set(record.id, record)
    this.#expiry.add(record.id, record.ttlMs)
    this.#trim()
  }

  get(id: string): TaskRecord | undefined {
    return this.#expiry.isExpired(id) ? undefined : this.#records.get(id)
  }

  put(record: TaskRecord): boolean {
    const before = this.get(record.id)
    if (before === undefined || isFinal(before.status)) return false
    this.#records.set(record.id, record)
    if (isFinal(record.status)) {
      this.#running.delete(record.id)
      this.#addFinished(record)
      this.#trim()
    }
    return true
  }

  list({ principal, session }: TaskOwner): readonly TaskRecord[] {
    return Array.from(this.#records.values()).filter(
      record =>
        record.principal === principal &&
        record.session === session &&
        !this.#expiry.isExpired(record.id),
    )
  }

  #addFinished(record: TaskRecord): void {
    const { result, error } = record
    this.#finished.add(record.id, callerOf(record), jsonMemory(result) + jsonMemory(error))
  }

  /** Deletes the oldest final tasks above the limit. */
  #trim(): void {
    for (let id = this.#finished.excess(); id !== undefined; id = this.#finished.excess()) {
      this.#expiry.delete(id)
      this.#delete(id)
    }
  }

  #delete(id: string): void {
    this.#records.delete(id)
    this.#running.delete(id)
    this.#finished.delete(id)
  }
}

/** As JSON, so that the name of a principal cannot equal that of a session. */
function callerOf({ principal, session, address }: TaskRecord): string {
  return JSON.stringify([principal ?? null, session ?? null, address ?? null])
}
