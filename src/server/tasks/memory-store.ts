import { errors } from '../../mcp/errors/constructors.ts'
import { isFinal } from '../../mcp/types/tasks.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Clock } from '../../util/time/clock.ts'
import { Expiry } from '../../util/time/expiry.ts'
import type { TaskOwner, TaskRecord, TaskStore } from './store.ts'

/** The options of a memory task store. */
export interface MemoryTaskStoreOptions {
  /** The maximum number of tasks. */
  readonly max?: number
  /** The maximum for one principal; without one, for one session, or for all callers with neither. */
  readonly maxPerCaller?: number
  readonly clock?: Clock
}

/** Stores tasks in the memory of this process. They are lost when it exits. */
export class MemoryTaskStore implements TaskStore {
  readonly #max: number
  readonly #maxPerCaller: number
  readonly #expiry: Expiry<string>
  /** In the order of creation. */
  readonly #records = new Map<string, TaskRecord>()
  readonly #counts = new Map<string, number>()

  constructor(options: MemoryTaskStoreOptions = {}) {
    this.#max = options.max ?? limits.tasks.default
    this.#maxPerCaller = options.maxPerCaller ?? limits.tasksPerCaller.default
    this.#expiry = new Expiry(id => this.#delete(id), options.clock)
  }

  /** The number of tasks. */
  get size(): number {
    return this.#records.size
  }

  add(record: TaskRecord): void {
    const caller = callerOf(record)
    const count = this.#counts.get(caller) ?? 0
    if (this.#records.size >= this.#max || count >= this.#maxPerCaller) {
      throw errors.maxConcurrentTasks()
    }
    this.#records.set(record.id, record)
    this.#counts.set(caller, count + 1)
    this.#expiry.add(record.id, record.ttlMs)
  }

  get(id: string): TaskRecord | undefined {
    return this.#expiry.isExpired(id) ? undefined : this.#records.get(id)
  }

  put(record: TaskRecord): boolean {
    const before = this.get(record.id)
    if (before === undefined || isFinal(before.status)) return false
    this.#records.set(record.id, record)
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

  #delete(id: string): void {
    const record = this.#records.get(id)
    if (record === undefined) return
    this.#records.delete(id)
    const caller = callerOf(record)
    const count = (this.#counts.get(caller) ?? 1) - 1
    if (count === 0) this.#counts.delete(caller)
    else this.#counts.set(caller, count)
  }
}

/** As JSON, so that the name of a principal cannot equal that of a session. */
function callerOf({ principal, session }: TaskOwner): string {
  return JSON.stringify([principal ?? null, session ?? null])
}
