import type { Caller } from '../../mcp/caller.ts'
import { jsonMemory } from '../../util/json-memory.ts'
import { limits } from '../../util/limits/limits.ts'
import { randomHex } from '../../util/random.ts'
import { systemClock } from '../../util/time/clock.ts'
import { sleep } from '../../util/time/sleep.ts'
import type { HandlerResult, IncomingRequest, NamedParams } from '../request.ts'
import { CoreTasks, type CoreTasksHost } from './core-tasks.ts'
import { ExtensionTasks, type ExtensionTasksHost } from './extension-tasks.ts'
import { requestedTtl } from './mode.ts'
import { type TaskOptions, TaskRegistry } from './registry.ts'
import { type TaskDesign, TaskRun } from './run.ts'
import type { TaskRecord } from './store.ts'

/** What tasks need from their endpoint. */
export interface TasksHost extends CoreTasksHost, ExtensionTasksHost {
  onError(error: unknown, request: IncomingRequest): void
  /** Whether a caller may still use the tool of its task. Throws an RpcError if it lacks scopes. */
  mayUseTask(tool: string, caller: Caller): boolean
}

/** Runs calls as tasks, which continue after the call was answered, in both designs of the protocol. */
export class Tasks {
  /** The tasks of revision 2025-11-25. */
  readonly core: CoreTasks
  /** The tasks of the extension of revision 2026-07-28. */
  readonly extension: ExtensionTasks
  readonly #host: TasksHost
  readonly #registry: TaskRegistry
  readonly #ttlMs: number
  readonly #maxTtlMs: number

  /** Throws a TypeError for invalid options. */
  constructor(host: TasksHost, options: TaskOptions = {}) {
    checkOptions(options)
    this.#host = host
    this.#registry = new TaskRegistry(options, (tool, caller) => host.mayUseTask(tool, caller))
    this.core = new CoreTasks(host, this.#registry)
    this.extension = new ExtensionTasks(host, this.#registry)
    this.#maxTtlMs = options.maxTtlMs ?? limits.taskTtlMaxMs.default
    this.#ttlMs = options.ttlMs ?? limits.taskTtlMs.default
  }

  /** The tasks that this process runs. */
  get running(): Iterable<TaskRun> {
    return this.#registry.running.values()
  }

  /** The design of tasks in the revision of a caller. */
  designOf({ revision }: Caller): CoreTasks | ExtensionTasks {
    return revision.features.tasks === 'core' ? this.core : this.extension
  }

  /** Answers a call with a new task. The work starts after that. */
  async begin(
    request: IncomingRequest,
    tool: string,
    work: (request: IncomingRequest) => HandlerResult,
  ): Promise<NamedParams> {
    const design = this.designOf(request.caller)
    const run: TaskRun = this.#run(design, request, tool, async () => {
      this.#registry.add(run)
      // The response is sent first: synchronous work must not delay it, and the client cannot use
      // messages of a task that it does not know yet.
      systemClock.start(() => void run.execute(work), 0)
    })
    await run.begin()
    // The client was not sent the task, so it would never request the result.
    if (request.exchange.signal.aborted) await run.cancel()
    return design.created(run.record)
  }

  /** Answers a call with its result if it has one at once, and otherwise with a new task. */
  async beginUnlessDone(
    request: IncomingRequest,
    tool: string,
    work: (request: IncomingRequest) => HandlerResult,
  ): Promise<NamedParams> {
    const { signal } = request.exchange
    const design = this.designOf(request.caller)
    const run: TaskRun = this.#run(design, request, tool, async () => this.#registry.add(run))
    const onAbort = (): void => run.stop(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    try {
      return (await run.executeUnlessDone(work)) ?? design.created(run.record)
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** Runs a call as a plain call until its handler turns it into a task. */
  deferTask(
    request: IncomingRequest,
    tool: string,
    work: (request: IncomingRequest) => HandlerResult,
  ): Promise<NamedParams> {
    const { signal } = request.exchange
    const design = this.designOf(request.caller)
    return new Promise((resolve, reject) => {
      const onAbort = (): void => run.stop(signal.reason)
      const run: TaskRun = this.#run(design, request, tool, async () => {
        signal.removeEventListener('abort', onAbort)
        this.#registry.add(run)
        resolve(design.created(run.record))
        await sleep(0).done
      })
      signal.addEventListener('abort', onAbort, { once: true })
      if (signal.aborted) onAbort()
      const working = (async () => work(run.request))()
      working.then(
        result => (run.isBegun ? run.finish(result) : resolve(result)),
        error => (run.isBegun ? run.fail(error) : reject(error)),
      )
    })
  }

  /** Cancels all tasks that this process runs. Requests for them are answered that they are cancelled. */
  async close(): Promise<void> {
    const running = [...this.#registry.running.values()]
    await Promise.all(running.map(run => run.cancel('The server has been closed')))
  }

  #run(
    design: TaskDesign,
    request: IncomingRequest,
    tool: string,
    onBegun: () => Promise<void>,
  ): TaskRun {
    const now = new Date().toISOString()
    const requestedMs = design.name === 'core' ? requestedTtl(request.params) : undefined
    const record: TaskRecord = {
      id: newId(),
      tool,
      design: design.name,
      ...this.#registry.ownerOf(request),
      ...addressOf(request),
      argumentBytes: jsonMemory(request.params),
      status: 'working',
      createdAt: now,
      updatedAt: now,
      ttlMs: Math.min(requestedMs ?? this.#ttlMs, this.#maxTtlMs),
    }
    const host = {
      store: this.#registry.store,
      lease: () => this.#registry.lease(),
      onBegun,
      onChanged: (run: TaskRun, changed: TaskRecord) => design.changed(run, changed),
      onFinished: (run: TaskRun) => this.#registry.remove(run),
      onError: (error: unknown, about: IncomingRequest) => this.#host.onError(error, about),
    }
    return new TaskRun(record, request, host)
  }
}

/** The client address of a request that has neither a principal nor a session, for the quota. */
function addressOf({ caller, session, exchange }: IncomingRequest): Pick<TaskRecord, 'address'> {
  const isKnown = caller.principal !== undefined
  if (isKnown || (session !== undefined && caller.revision.features.sessions)) return {}
  const address = exchange.envelope.address?.(true)
  return address === undefined ? {} : { address }
}

/** 192 random bits: a caller without a principal needs nothing but the id to use the task. */
function newId(): string {
  return randomHex(24)
}

const taskNumbers = [
  'ttlMs',
  'maxTtlMs',
  'pollMs',
  'leaseMs',
  'max',
  'maxPerCaller',
  'maxFinished',
  'maxFinishedPerCaller',
  'maxArgumentBytes',
  'maxFinishedBytes',
] as const

function checkOptions(options: TaskOptions): void {
  for (const name of taskNumbers) {
    const value = options[name]
    if (value === undefined || (Number.isFinite(value) && value > 0)) continue
    throw new TypeError(`option "tasks.${name}" must be a number > 0 (got ${value})`)
  }
}
