import { errors } from '../../mcp/errors/constructors.ts'
import { isFinal } from '../../mcp/types/tasks.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import { Expiry } from '../../util/time/expiry.ts'
import type { TaskOwner, TaskRecord, TaskStore } from './store.ts'

/** How many tasks are kept, and by which clock. */
export interface TaskMemoryOptions {
  /** Tasks altogether. */
  readonly max?: number
  /** Tasks of one principal; without one, of one session, or of all callers that have neither. */
  readonly maxPerCaller?: number
  readonly clock?: Clock
}

/** Keeps tasks in this process, which takes them with it when it ends. */
export class TaskMemory implements TaskStore {
  readonly #max: number
  readonly #maxPerCaller: number
  readonly #expiry: Expiry<string>
  /** In the order of their creation. */
  readonly #records = new Map<string, TaskRecord>()
  readonly #counts = new Map<string, number>()

  constructor(options: TaskMemoryOptions = {}) {
    this.#max = options.max ?? limits.tasks.default
    this.#maxPerCaller = options.maxPerCaller ?? limits.tasksPerCaller.default
    this.#expiry = new Expiry(options.clock ?? systemClock, id => this.#forget(id))
  }

  /** How many there are. */
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
    return this.#expiry.isOver(id) ? undefined : this.#records.get(id)
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
        !this.#expiry.isOver(record.id),
    )
  }

  #forget(id: string): void {
    const record = this.#records.get(id)
    if (record === undefined) return
    this.#records.delete(id)
    const caller = callerOf(record)
    const count = (this.#counts.get(caller) ?? 1) - 1
    if (count === 0) this.#counts.delete(caller)
    else this.#counts.set(caller, count)
  }
}

/** As JSON, so that no principal can be named like a session. */
function callerOf({ principal, session }: TaskOwner): string {
  return JSON.stringify([principal ?? null, session ?? null])
}
