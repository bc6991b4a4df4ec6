import type { Caller } from '../../mcp/caller.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import { Expiry } from '../../util/time/expiry.ts'
import type { IncomingRequest } from '../request.ts'
import { failedRecord, isAbandoned, Leases } from './lease.ts'
import { MemoryTaskStore, type MemoryTaskStoreOptions } from './memory-store.ts'
import type { TaskRun } from './run.ts'
import type { TaskOwner, TaskRecord, TaskStore } from './store.ts'

/** The option `tasks` of a server. */
export interface TaskOptions extends MemoryTaskStoreOptions {
  /** Where tasks are stored; by default in this process, up to `max` and `maxPerCaller`. */
  readonly store?: TaskStore
  /** How long a task is kept from its creation, where the caller names no time. */
  readonly ttlMs?: number
  /** The longest time that a caller may name. */
  readonly maxTtlMs?: number
  /** The poll interval that callers are asked to use. */
  readonly pollMs?: number
  /** With a `store`: how long the lease of a running task is valid; its process renews it before. */
  readonly leaseMs?: number
}

/**
 * The tasks of a server in both designs: their store, and those that this process runs.
 *
 * A task belongs to the principal that created it; for all others it does not exist. Without a
 * principal any caller that knows the id of a task may use it, also from another connection after the
 * first was lost: ids cannot be guessed. Only the session that created such a task lists it.
 */
export class TaskRegistry {
  readonly store: TaskStore
  readonly clock: Clock
  readonly pollMs: number
  readonly #running = new Map<string, TaskRun>()
  readonly #expiry: Expiry<TaskRun>
  readonly #leases: Leases | undefined
  readonly #mayUse: (tool: string, caller: Caller) => boolean

  /** `mayUse` says whether a caller may still use the tool of its task; it may throw an RpcError instead. */
  constructor(
    options: TaskOptions = {},
    mayUse: (tool: string, caller: Caller) => boolean = () => true,
  ) {
    this.#mayUse = mayUse
    this.clock = options.clock ?? systemClock
    this.store = options.store ?? new MemoryTaskStore(options)
    // The store in memory ends with its process.
    this.#leases = options.store === undefined ? undefined : new Leases(this.#running, options)
    this.pollMs = options.pollMs ?? limits.taskPollMs.default
    this.#expiry = new Expiry(
      run => run.stop(errors.taskTimeout({ taskId: run.record.id })),
      options.clock,
    )
  }

  /** The tasks that this process runs. */
  get running(): ReadonlyMap<string, TaskRun> {
    return this.#running
  }

  /** Adds a task that this process runs, until it is removed or its time to live is over. */
  add(run: TaskRun): void {
    this.#running.set(run.record.id, run)
    this.#leases?.start()
    this.#expiry.add(run, run.record.ttlMs)
  }

  /** Removes a task that this process no longer runs. Its record stays in the store. */
  remove(run: TaskRun): void {
    this.#running.delete(run.record.id)
    this.#expiry.delete(run)
  }

  /** Finds a task of the caller; undefined where it does not exist, or belongs to another principal. */
  async find(taskId: string, caller: Caller): Promise<TaskRecord | undefined> {
    const record = await this.store.get(taskId)
    if (record === undefined || record.principal !== caller.principal?.id) return undefined
    if (!this.#mayUse(record.tool, caller)) return undefined
    return this.#current(record)
  }

  /** Returns the tasks of a caller, oldest first, but not those of tools that it may not use any more. */
  async list(owner: TaskOwner, caller: Caller): Promise<readonly TaskRecord[]> {
    const all = await this.store.list(owner)
    const records = all.filter(({ tool }) => this.#lists(tool, caller))
    return this.#leases === undefined
      ? records
      : Promise.all(records.map(record => this.#current(record)))
  }

  #lists(tool: string, caller: Caller): boolean {
    try {
      return this.#mayUse(tool, caller)
    } catch {
      return false
    }
  }

  /** The time at which a lease that begins now expires, for the records of tasks. */
  lease(): Pick<TaskRecord, 'leaseUntil'> {
    return this.#leases === undefined ? {} : { leaseUntil: this.#leases.until() }
  }

  /** Returns a task as it is now: failed if the process that ran it has ended. */
  async #current(record: TaskRecord): Promise<TaskRecord> {
    if (this.#running.has(record.id) || !isAbandoned(record)) return record
    const failed = failedRecord(record)
    if (await this.store.put(failed)) return failed
    return (await this.store.get(record.id)) ?? failed
  }

  /** Cancels a task, in whichever process it runs. Returns whether there was anything to cancel. */
  async cancel(record: TaskRecord): Promise<boolean> {
    const run = this.#running.get(record.id)
    if (run !== undefined) {
      await run.cancel()
      return true
    }
    const updatedAt = new Date().toISOString()
    return this.store.put({ ...record, status: 'cancelled', updatedAt, inputRequests: undefined })
  }

  /** The owner of the tasks that a request creates. */
  ownerOf({ caller, session }: IncomingRequest): TaskOwner {
    if (caller.principal !== undefined) return { principal: caller.principal.id }
    if (session === undefined || !caller.revision.features.sessions) return {}
    return { session: session.taskKey }
  }
}
