import type { Backplane } from '../../backplane/backplane.ts'
import { BackplaneError } from '../../backplane/backplane-error.ts'
import type { RecordStore } from '../../backplane/record-store.ts'
import type { Members } from '../../mcp/types/base.ts'
import { isFinal } from '../../mcp/types/tasks.ts'
import type { TaskOwner, TaskRecord, TaskStore } from '../../server/tasks/store.ts'
import { limits } from '../../util/limits/limits.ts'
import { checkOptions, type OptionTableOf } from '../../util/options.ts'
import { backoffMs } from '../../util/time/backoff.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import { sleep } from '../../util/time/sleep.ts'
import { isOver, leftMs, readRecord, type StoredTask, storedTask } from './record-text.ts'
import { TaskIndex } from './task-index.ts'
import { TaskResponses } from './task-responses.ts'

/** The options of `sharedTasks`. The limits hold for all nodes together. */
export interface SharedTaskOptions {
  /** The maximum number of tasks that are not final. */
  readonly max?: number
  /** The maximum for one principal; without one, for one session or one client address. */
  readonly maxPerCaller?: number
  /** The maximum of final tasks for one principal, session or client address. Those that expire first are deleted. */
  readonly maxFinishedPerCaller?: number
  /** The clock for retries; for tests. */
  readonly clock?: Clock
}

const table: OptionTableOf<SharedTaskOptions> = {
  max: 'max',
  maxPerCaller: 'max',
  maxFinishedPerCaller: 'max',
  clock: 'object',
}

/**
 * Returns a store that keeps tasks in a backplane, for the option `tasks.store` of a server: every node that uses
 * the same backplane finds a task as soon as it is created, and tasks survive a restart. A task whose process was
 * killed fails when its lease is over.
 *
 * While the backplane cannot be reached, no task can be created or read, and results of running tasks are written as
 * soon as it is back, within `sharedTaskRetryMs`. A backplane that comes back empty gets running tasks again from
 * their processes. Throws a TypeError for invalid options.
 */
export function sharedTasks(backplane: Backplane, options: SharedTaskOptions = {}): TaskStore {
  checkOptions(options, table)
  return new SharedTaskStore(backplane, options)
}

class SharedTaskStore implements TaskStore {
  readonly #store: RecordStore
  readonly #index: TaskIndex
  readonly #responses: TaskResponses
  readonly #clock: Clock
  /** The last text of each task that this process runs, by id. */
  readonly #running = new Map<string, string>()

  constructor({ store, bus }: Backplane, options: SharedTaskOptions) {
    const maxPerCaller = options.maxPerCaller ?? limits.tasksPerCaller.default
    const maxFinished = options.maxFinishedPerCaller ?? limits.finishedTasksPerCaller.default
    this.#store = store
    this.#responses = new TaskResponses(bus, options.clock)
    this.#clock = options.clock ?? systemClock
    this.#index = new TaskIndex(store, {
      max: options.max ?? limits.tasks.default,
      maxPerCaller,
      maxKeptPerCaller: maxPerCaller + maxFinished,
    })
  }

  async add(record: TaskRecord): Promise<void> {
    const task = storedTask(record)
    await this.#index.add(task.record, ids => this.#deleteFirstFinal(ids))
    const { isDone } = await this.#swap(task, undefined)
    if (!isDone) throw new Error(`there is a task with the id ${record.id} already`)
  }

  async get(id: string): Promise<TaskRecord | undefined> {
    const stored = await this.#store.get(keyOf(id))
    return stored && readRecord(stored.value)
  }

  async put(record: TaskRecord): Promise<boolean> {
    const task = storedTask(record)
    const isReplaced = await this.#persistently(() => this.#replace(task))
    if (!isReplaced || isFinal(task.record.status)) this.#running.delete(record.id)
    return isReplaced
  }

  async list(owner: TaskOwner): Promise<readonly TaskRecord[]> {
    const records: TaskRecord[] = []
    for await (const ids of this.#index.of(owner)) records.push(...(await this.#getAll(ids)))
    return records.sort((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt))
  }

  respond(id: string, responses: Members): Promise<boolean> {
    return this.#responses.send(id, responses)
  }

  receive(id: string, listener: (responses: Members) => Promise<void>): Promise<() => void> {
    return this.#responses.receive(id, listener)
  }

  /** Replaces the record of a task unless it is final. A record that the backplane has lost is written anew. */
  async #replace(task: StoredTask): Promise<boolean> {
    const { record, text } = task
    const own = this.#running.get(record.id)
    let before = own ?? (await this.#store.get(keyOf(record.id)))?.value
    // Only processes that write the same task at the same time make it repeat.
    for (;;) {
      if (before === text) return true
      // A task that this process runs can be missing because the backplane lost it, or because its time is over.
      if (before === undefined && (own === undefined || isOver(record))) return false
      if (before !== undefined && isFinal(readRecord(before).status)) return false
      if (before === undefined) await this.#index.add(record, ids => this.#deleteFirstFinal(ids))
      const { isDone, now } = await this.#swap(task, before)
      if (isDone) {
        if (isFinal(record.status)) await this.#index.finished(record)
        else await this.#index.renew(record)
        return true
      }
      before = now
    }
  }

  async #swap({ record, text }: StoredTask, before: string | undefined) {
    const isLast = isFinal(record.status)
    const write = { value: text, ttlMs: leftMs(record), isFinal: isLast }
    const { isDone, now } = await this.#store.swap(keyOf(record.id), before, write)
    // A repeated swap finds its own text.
    const isStored = isDone || now === text
    if (isStored && !isLast) this.#running.set(record.id, text)
    return { isDone: isStored, now }
  }

  /** Repeats a write that cannot be executed at present, because the result of a task would be lost otherwise. */
  async #persistently<T>(write: () => Promise<T>): Promise<T> {
    const until = this.#clock.now() + limits.sharedTaskRetryMs.default
    for (let attempt = 0; ; attempt++) {
      try {
        return await write()
      } catch (error) {
        if (!isTransient(error) || this.#clock.now() >= until) throw error
        await sleep(backoffMs(attempt, { baseMs: 50, maxMs: 1000 }), this.#clock).done
      }
    }
  }

  async #getAll(ids: readonly string[]): Promise<TaskRecord[]> {
    const found = await this.#store.getAll(ids.map(keyOf))
    return found.flatMap(stored => (stored === undefined ? [] : [readRecord(stored.value)]))
  }

  /** Deletes the first final task of these; resolves to whether there was one. */
  async #deleteFirstFinal(ids: readonly string[]): Promise<boolean> {
    const first = (await this.#getAll(ids)).find(({ status }) => isFinal(status))
    if (first === undefined) return false
    await this.#store.delete(keyOf(first.id))
    await this.#index.removed(first)
    return true
  }
}

function keyOf(id: string): string {
  return `task ${id}`
}

function isTransient(error: unknown): boolean {
  return error instanceof BackplaneError && (error.code === 'down' || error.code === 'unknown')
}
