import { invalidParams, type RpcError } from '../../jsonrpc/error.ts'
import type { Caller } from '../../mcp/caller.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { toWire } from '../../mcp/errors/wire.ts'
import { missingExtension, tasksExtension } from '../../mcp/extension.ts'
import type { Profile } from '../../mcp/profile.ts'
import { type DetailedTask, isFinal } from '../../mcp/types/tasks.ts'
import { orAborted } from '../../util/abort.ts'
import { limits } from '../../util/limits/limits.ts'
import { randomHex } from '../../util/random.ts'
import { isRecord } from '../../util/record.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import { Expiry } from '../../util/time/expiry.ts'
import { pause } from '../../util/time/wait.ts'
import type { Session } from '../core/session.ts'
import type { Cursors } from '../features/cursor.ts'
import { pageOf } from '../features/page.ts'
import { type Answer, type Params, type ServerRequest, stringParam } from '../request.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'
import { coreTask, detailedTask, flatTask, relatedTo, thrown } from './encode.ts'
import { TaskMemory, type TaskMemoryOptions } from './memory-store.ts'
import { declaresTasks, wishedTtl } from './mode.ts'
import { TaskRun } from './run.ts'
import type { TaskOwner, TaskRecord, TaskStore } from './store.ts'

/** How a server keeps tasks. */
export interface TaskOptions extends TaskMemoryOptions {
  /** Where they are kept; by default in this process, within `max` and `maxPerCaller`. */
  readonly store?: TaskStore
  /** How long a task is kept from its creation, where its caller names no time. */
  readonly ttlMs?: number
  /** The longest time a caller may name. */
  readonly maxTtlMs?: number
  /** How long callers are asked to wait between two looks at a task. */
  readonly pollMs?: number
}

/** What tasks need of their server. */
export interface TasksHost {
  readonly profile: Profile
  readonly pageSize: number
  readonly cursors: Cursors
  readonly subscriptions: Subscriptions
  onError(error: unknown, request: ServerRequest): void
}

/**
 * Calls that go on after they have been answered, in both of the protocol's designs.
 *
 * A task belongs to the principal that made it; to everybody else it does not exist. Where nobody has
 * established who calls, whoever knows the id of a task may ask for it, also from another connection
 * after the first was lost: ids cannot be guessed. Only the session that made such a task lists it.
 */
export class Tasks {
  readonly #host: TasksHost
  readonly #store: TaskStore
  readonly #clock: Clock
  readonly #ttlMs: number
  readonly #maxTtlMs: number
  readonly #pollMs: number
  readonly #running = new Map<string, TaskRun>()
  readonly #expiry: Expiry<TaskRun>
  readonly #sessions = new WeakMap<Session, string>()

  /** Throws a TypeError for options that mean nothing. */
  constructor(host: TasksHost, options: TaskOptions = {}) {
    checkOptions(options)
    this.#host = host
    this.#clock = options.clock ?? systemClock
    this.#store = options.store ?? new TaskMemory(options)
    this.#maxTtlMs = options.maxTtlMs ?? limits.taskTtlMaxMs.default
    this.#ttlMs = options.ttlMs ?? limits.taskTtlMs.default
    this.#pollMs = options.pollMs ?? limits.taskPollMs.default
    this.#expiry = new Expiry(this.#clock, run => {
      run.stop(errors.taskTimeout({ taskId: run.record.id }))
    })
  }

  /** How many tasks this process carries out. */
  get running(): number {
    return this.#running.size
  }

  /** Makes a task of a call and answers it; the work begins after that. */
  async begin(
    request: ServerRequest,
    tool: string,
    work: (request: ServerRequest) => Answer,
  ): Promise<Params> {
    const run: TaskRun = this.#run(request, tool, async () => {
      this.#enter(run)
      // The answer leaves first: work that never rests must not hold it up, and the messages of a
      // task mean something only to whoever has heard of it.
      systemClock.start(() => void run.carryOut(work), 0)
    })
    await run.begin()
    // Nobody has been told of it, so nobody would ever come for it.
    if (request.exchange.signal.aborted) await run.cancel()
    return this.#created(run.record)
  }

  /** Carries out a call as usual until its handler makes a task of it. */
  beginLater(
    request: ServerRequest,
    tool: string,
    work: (request: ServerRequest) => Answer,
  ): Promise<Params> {
    const { signal } = request.exchange
    return new Promise((resolve, reject) => {
      const onAbort = (): void => run.stop(signal.reason)
      const run: TaskRun = this.#run(request, tool, async () => {
        signal.removeEventListener('abort', onAbort)
        this.#enter(run)
        resolve(this.#created(run.record))
        await pause(0).over
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

  /** Answers `tasks/get`. */
  async get(request: ServerRequest): Promise<Params> {
    const record = await this.#find(request)
    return request.caller.revision.features.tasks === 'core'
      ? { ...coreTask(record, this.#pollMs) }
      : { ...this.#detailed(record, request.caller) }
  }

  /** Answers `tasks/result`: waits until the task is over, and gives what the call gave. */
  async result(request: ServerRequest): Promise<Params> {
    let record = await this.#find(request)
    while (!isFinal(record.status)) {
      await this.#untilOver(record, request)
      record = await this.#find(request)
    }
    if (record.error !== undefined) throw thrown(record.error)
    if (record.result === undefined) throw errors.taskCancelled({ taskId: record.id })
    return relatedTo(record.id, record.result)
  }

  /** Answers `tasks/list` with the caller's own tasks. */
  async list(request: ServerRequest): Promise<Params> {
    const owner = this.#ownerOf(request)
    const all = await this.#store.list(owner)
    const { cursors, pageSize } = this.#host
    const binding = `tasks ${JSON.stringify(owner)}`
    const { items, nextCursor } = pageOf(all, binding, request.params, cursors, pageSize)
    const tasks = items.map(record => coreTask(record, this.#pollMs))
    return nextCursor === undefined ? { tasks } : { tasks, nextCursor }
  }

  /** Answers `tasks/cancel`. In the extension what is over is as good as cancelled. */
  async cancel(request: ServerRequest): Promise<Params> {
    const record = await this.#find(request)
    const isCore = request.caller.revision.features.tasks === 'core'
    const isCancelled = !isFinal(record.status) && (await this.#cancel(record))
    if (!isCore) return {}
    const now = await this.#find(request)
    if (isCancelled && now.status === 'cancelled') return { ...coreTask(now, this.#pollMs) }
    const message = `The task is already ${now.status}`
    throw errors.taskAlreadyCompleted({ taskId: now.id }, { message })
  }

  /** Answers `tasks/update`: brings answers to the questions of a task. */
  async update(request: ServerRequest): Promise<Params> {
    const { id } = await this.#find(request)
    const { inputResponses } = request.params
    if (!isRecord(inputResponses)) {
      const details = 'inputResponses must be an object'
      throw invalidParams(details, { data: { details } })
    }
    await this.#running.get(id)?.answer(inputResponses)
    return {}
  }

  /**
   * Those of some tasks that there are for the caller, as they are now. Throws where the caller has
   * not declared that it knows tasks.
   */
  async audible(
    caller: Caller,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, DetailedTask>> {
    if (!declaresTasks(caller)) throw missingExtension(tasksExtension)
    const found = await Promise.all(ids.map(id => this.#store.get(id)))
    const tasks = new Map<string, DetailedTask>()
    for (const record of found) {
      if (record === undefined || !isOf(record, caller)) continue
      tasks.set(record.id, this.#detailed(record, caller))
    }
    return tasks
  }

  /** Ends all tasks that this process carries out; whoever asks for them hears that they are over. */
  async close(): Promise<void> {
    const running = [...this.#running.values()]
    await Promise.all(running.map(run => run.cancel('The server has been closed')))
  }

  #run(request: ServerRequest, tool: string, enter: () => Promise<void>): TaskRun {
    const { features } = request.caller.revision
    const now = new Date().toISOString()
    const isCore = features.tasks === 'core'
    const record: TaskRecord = {
      id: newId(),
      tool,
      design: isCore ? 'core' : 'extension',
      ...this.#ownerOf(request),
      status: 'working',
      createdAt: now,
      updatedAt: now,
      ttlMs: Math.min(
        (isCore ? wishedTtl(request.params) : undefined) ?? this.#ttlMs,
        this.#maxTtlMs,
      ),
    }
    const host = {
      store: this.#store,
      onChanged: (run: TaskRun, changed: TaskRecord) => this.#tell(run, changed),
      onOver: (run: TaskRun) => this.#leave(run),
      onError: (error: unknown, about: ServerRequest) => this.#host.onError(error, about),
    }
    return new TaskRun(record, request, host, enter)
  }

  #enter(run: TaskRun): void {
    this.#running.set(run.record.id, run)
    this.#expiry.add(run, run.record.ttlMs)
  }

  #leave(run: TaskRun): void {
    this.#running.delete(run.record.id)
    this.#expiry.remove(run)
  }

  #created(record: TaskRecord): Params {
    return record.design === 'core'
      ? { task: coreTask(record, this.#pollMs) }
      : { resultType: 'task', ...flatTask(record, this.#pollMs) }
  }

  #tell(run: TaskRun, record: TaskRecord): void {
    const { caller } = run.request
    if (record.design === 'core') {
      run.way.notify('notifications/tasks/status', coreTask(record, this.#pollMs))
      return
    }
    const params = { ...this.#detailed(record, caller) }
    this.#host.subscriptions.announce({ type: 'task', taskId: record.id, params })
  }

  #detailed(record: TaskRecord, { revision }: Caller): DetailedTask {
    const { profile } = this.#host
    const wire = (error: RpcError) => toWire(error, { profile, revision })
    return detailedTask(record, this.#pollMs, wire)
  }

  /** Cancels a task wherever it is carried out; says whether there was anything to cancel. */
  async #cancel(record: TaskRecord): Promise<boolean> {
    const run = this.#running.get(record.id)
    if (run !== undefined) {
      await run.cancel()
      return true
    }
    const updatedAt = new Date().toISOString()
    return this.#store.put({ ...record, status: 'cancelled', updatedAt, questions: undefined })
  }

  /** Waits for the end of a task; whoever waits can be asked its questions. */
  async #untilOver(record: TaskRecord, { exchange }: ServerRequest): Promise<void> {
    const run = this.#running.get(record.id)
    const { signal, back, notify } = exchange
    if (run === undefined) {
      const { over, end } = pause(this.#pollMs, this.#clock)
      await orAborted(over, signal).finally(end)
      return
    }
    const way = back && {
      call: back.call.bind(back),
      notify: (method: string, params?: object) => notify(method, params),
    }
    if (way !== undefined) run.way.join(way)
    try {
      await orAborted(run.over, signal)
    } finally {
      if (way !== undefined) run.way.leave(way)
    }
  }

  /** The task a request is about, if it is the caller's; otherwise there is none. */
  async #find(request: ServerRequest): Promise<TaskRecord> {
    const { caller, params, method } = request
    const isExtension = caller.revision.features.tasks === 'extension'
    const isGuest = isExtension && !declaresTasks(caller)
    // Who made tasks the older way may still look at those, and cancel them.
    const isOlder = caller.capabilities.tasks !== undefined && method !== 'tasks/update'
    if (isGuest && !isOlder) throw missingExtension(tasksExtension)
    const taskId = stringParam(params, 'taskId')
    const record = await this.#store.get(taskId)
    const isMine = record !== undefined && isOf(record, caller)
    if (isGuest && !(isMine && record.design === 'core')) throw missingExtension(tasksExtension)
    if (!isMine) throw errors.taskNotFound({ taskId })
    return record
  }

  #ownerOf({ caller, session }: ServerRequest): TaskOwner {
    if (caller.principal !== undefined) return { principal: caller.principal.id }
    if (session === undefined || caller.revision.era === 'stateless') return {}
    let key = this.#sessions.get(session)
    if (key === undefined) {
      key = crypto.randomUUID()
      this.#sessions.set(session, key)
    }
    return { session: key }
  }
}

/** 192 bits: for a caller that nobody has identified, the id is all it takes to have the task. */
function newId(): string {
  return randomHex(24)
}

function checkOptions(options: TaskOptions): void {
  for (const name of ['ttlMs', 'maxTtlMs', 'pollMs', 'max', 'maxPerCaller'] as const) {
    const value = options[name]
    if (value === undefined || (Number.isFinite(value) && value > 0)) continue
    throw new TypeError(`the option "tasks.${name}" is a number above 0, not ${value}`)
  }
}

function isOf({ principal }: TaskRecord, caller: Caller): boolean {
  return principal === caller.principal?.id
}
