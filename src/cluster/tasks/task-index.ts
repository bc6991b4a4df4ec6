import { BackplaneError } from '../../backplane/backplane-error.ts'
import type { RecordStore } from '../../backplane/record-store.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { isFinal } from '../../mcp/types/tasks.ts'
import type { TaskOwner, TaskRecord } from '../../server/tasks/store.ts'
import { toBase64Url } from '../../util/crypto/base64url.ts'
import { leaseLeftMs, leftMs } from './record-text.ts'

/** How many tasks all nodes together keep. */
export interface TaskIndexLimits {
  /** Tasks that are not final. */
  readonly max: number
  /** Tasks of one caller that are not final. */
  readonly maxPerCaller: number
  /** Tasks of one caller, final ones included. */
  readonly maxKeptPerCaller: number
}

/** Deletes the first final task of these; resolves to whether there was one. */
export type DeleteFinal = (ids: readonly string[]) => Promise<boolean>

/**
 * The names of tasks: those of each caller, and those that are not final. The latter last as long as the lease of
 * the process that runs the task, so the tasks of a process that was killed make room for others.
 */
export class TaskIndex {
  readonly #store: RecordStore
  readonly #limits: TaskIndexLimits

  constructor(store: RecordStore, limits: TaskIndexLimits) {
    this.#store = store
    this.#limits = limits
  }

  /** Adds a task before its record is written. Throws `errors.maxConcurrentTasks()` where there is no room. */
  async add(record: TaskRecord, deleteFinal: DeleteFinal): Promise<void> {
    const { max, maxPerCaller } = this.#limits
    const caller = await digestOf(record)
    const ttlMs = leaseLeftMs(record)
    try {
      if (!isFinal(record.status)) {
        await this.#store.add(runningOf(caller), record.id, ttlMs, maxPerCaller)
        await this.#store.add(running, record.id, ttlMs, max)
      }
      await this.#addKept(tasksOf(caller), record, deleteFinal)
    } catch (error) {
      await this.finished(record).catch(() => {})
      throw isFull(error) ? errors.maxConcurrentTasks() : error
    }
  }

  /** Extends the time for which a task counts as not final. */
  async renew(record: TaskRecord): Promise<void> {
    const sets = [running, runningOf(await digestOf(record))]
    const ttlMs = leaseLeftMs(record)
    await Promise.all(sets.map(set => this.#store.add(set, record.id, ttlMs)))
  }

  /** Removes a task from those that are not final. */
  async finished(record: TaskRecord): Promise<void> {
    const sets = [running, runningOf(await digestOf(record))]
    await Promise.all(sets.map(set => this.#store.remove(set, record.id)))
  }

  /** Iterates over the ids of the tasks of an owner, in pages. */
  async *of(owner: TaskOwner): AsyncIterable<readonly string[]> {
    yield* this.#store.names(tasksOf(await digestOf(owner)))
  }

  /** Removes a task that was deleted from those of its caller. */
  async removed(record: TaskRecord): Promise<void> {
    await this.#store.remove(tasksOf(await digestOf(record)), record.id)
  }

  async #addKept(set: string, record: TaskRecord, deleteFinal: DeleteFinal): Promise<void> {
    const { maxKeptPerCaller } = this.#limits
    const add = () => this.#store.add(set, record.id, leftMs(record), maxKeptPerCaller)
    try {
      await add()
    } catch (error) {
      if (!isFull(error)) throw error
      for await (const ids of this.#store.names(set)) {
        if (await deleteFinal(ids)) break
      }
      await add()
    }
  }
}

/** The set of all tasks that are not final. */
const running = 'running'

function runningOf(caller: string): string {
  return `running ${caller}`
}

function tasksOf(caller: string): string {
  return `tasks ${caller}`
}

function isFull(error: unknown): boolean {
  return error instanceof BackplaneError && error.code === 'full'
}

/** Identifies a caller in keys, whose length is limited. Hashed as JSON, so that no principal equals a session. */
async function digestOf(caller: TaskOwner & Pick<TaskRecord, 'address'>): Promise<string> {
  const { principal = null, session = null, address = null } = caller
  const text = new TextEncoder().encode(JSON.stringify([principal, session, address]))
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', text)))
}
