import { errors } from '../../mcp/errors/constructors.ts'
import { isFinal } from '../../mcp/types/tasks.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import { errorRecord } from './encode.ts'
import type { TaskRun } from './run.ts'
import type { TaskRecord } from './store.ts'

/** The options of leases. */
interface LeaseOptions {
  readonly leaseMs?: number
  readonly clock?: Clock
}

/** Renews the leases of the tasks that this process runs, in a store that outlives the process. */
export class Leases {
  readonly #running: ReadonlyMap<string, TaskRun>
  readonly #clock: Clock
  readonly #leaseMs: number
  #isStarted = false

  constructor(running: ReadonlyMap<string, TaskRun>, options: LeaseOptions) {
    this.#running = running
    this.#clock = options.clock ?? systemClock
    this.#leaseMs = options.leaseMs ?? limits.taskLeaseMs.default
  }

  /** An ISO 8601 time: from now until the lease is over. */
  until(): string {
    return new Date(Date.now() + this.#leaseMs).toISOString()
  }

  /** Renews leases as long as there are running tasks. */
  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    const renew = () => {
      this.#isStarted = false
      if (this.#running.size === 0) return
      const until = this.until()
      for (const run of this.#running.values()) run.renew(until)
      this.start()
    }
    this.#clock.start(renew, this.#leaseMs / 3).unref()
  }
}

/** Whether the process that ran a task has ended without finishing it. */
export function isAbandoned({ status, leaseUntil }: TaskRecord): boolean {
  return !isFinal(status) && leaseUntil !== undefined && Date.parse(leaseUntil) < Date.now()
}

/** Returns the record of a task whose process has ended. */
export function failedRecord(record: TaskRecord): TaskRecord {
  const message = 'The process that ran this task has ended'
  return {
    ...record,
    status: 'failed',
    message,
    error: errorRecord(errors.internalError(undefined, { message })),
    updatedAt: new Date().toISOString(),
    inputRequests: undefined,
  }
}
