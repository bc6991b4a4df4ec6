import { errors } from '../../mcp/errors/constructors.ts'
import { isFinal } from '../../mcp/types/tasks.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Clock } from '../../util/time/clock.ts'
import { Expiry } from '../../util/time/expiry.ts'
import type { TaskOwner, TaskRecord, TaskStore } from './store.ts'

/** The options of a memory task store. */
export interface MemoryTaskStoreOptions {
  /** The maximum number of tasks that are not final. */
  readonly max?: number
  /** The maximum for one principal; without one, for one session, or for all callers with neither. */
  readonly maxPerCaller?: number
  /** The maximum number of final tasks that are kept. The oldest are deleted. */
  readonly maxFinished?: number
  /** The maximum of final tasks for one principal, or one session, or all callers with neither. */
  readonly maxFinishedPerCaller?: number
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
    this.#running = new Quota(
      options.max ?? limits.tasks.default,
      options.maxPerCaller ?? limits.tasksPerCaller.default,
    )
    this.#finished = new Quota(
      options.maxFinished ?? limits.finishedTasks.default,
      options.maxFinishedPerCaller ?? limits.finishedTasksPerCaller.default,
    )
    this.#expiry = new Expiry(id => this.#delete(id), options.clock)
  }

  /** The number of tasks, final ones included. */
  get size(): number {
    return this.#records.size
  }

  add(record: TaskRecord): void {
    const quota = isFinal(record.status) ? this.#finished : this.#running
    quota.add(record.id, callerOf(record))
    if (quota.excess() !== undefined && quota === this.#running) {
      quota.delete(record.id)
      throw errors.maxConcurrentTasks()
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
      this.#finished.add(record.id, callerOf(record))
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

/** Tasks in the order in which they were added, with limits for all of them and for one caller. */
class Quota {
  readonly #max: number
  readonly #maxPerCaller: number
  readonly #callers = new Map<string, string>()
  readonly #ids = new Map<string, Set<string>>()
  #last = ''

  constructor(max: number, maxPerCaller: number) {
    this.#max = max
    this.#maxPerCaller = maxPerCaller
  }

  add(id: string, caller: string): void {
    this.#callers.set(id, caller)
    const ids = this.#ids.get(caller) ?? new Set()
    this.#ids.set(caller, ids.add(id))
    this.#last = caller
  }

  delete(id: string): void {
    const caller = this.#callers.get(id)
    if (caller === undefined) return
    this.#callers.delete(id)
    const ids = this.#ids.get(caller)
    ids?.delete(id)
    if (ids?.size === 0) this.#ids.delete(caller)
  }

  /** The oldest task of the caller that was added to last, or of all, if those are too many. */
  excess(): string | undefined {
    const own = this.#ids.get(this.#last)
    if (own !== undefined && own.size > this.#maxPerCaller) return first(own)
    return this.#callers.size > this.#max ? first(this.#callers.keys()) : undefined
  }
}

function first<T>(items: Iterable<T>): T | undefined {
  for (const item of items) return item
  return undefined
}

/** As JSON, so that the name of a principal cannot equal that of a session. */
function callerOf({ principal, session }: TaskOwner): string {
  return JSON.stringify([principal ?? null, session ?? null])
}
