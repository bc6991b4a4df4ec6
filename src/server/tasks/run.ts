import { RpcError } from '../../jsonrpc/error.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { InputRequest } from '../../mcp/types/input.ts'
import { isFinal } from '../../mcp/types/tasks.ts'
import { abortable, type Deferred, deferred } from '../../util/promises.ts'
import { sleep } from '../../util/time/sleep.ts'
import type { HandlerResult, IncomingRequest, NamedParams } from '../request.ts'
import { errorRecord, failureMessage, relatedTo, shortened } from './encode.ts'
import { TaskReplyPath } from './reply-path.ts'
import type { CurrentTask, ServerRequestOptions, TaskScope } from './scope.ts'
import { sendServerRequest } from './server-request.ts'
import type { TaskRecord, TaskStore } from './store.ts'

/** One of the protocol's two designs of tasks: how clients see a task. */
export interface TaskDesign {
  readonly name: 'core' | 'extension'
  /** The result of a call that has become a task. */
  created(record: TaskRecord): NamedParams
  /** Notifies the client of a change. */
  changed(run: TaskRun, record: TaskRecord): void
}

/** What a running task needs from the tasks of its server. */
export interface TaskRunHost {
  readonly store: TaskStore
  /** The lease for the record of a task that begins now. */
  lease(): Pick<TaskRecord, 'leaseUntil'>
  /** The task was added to the store: registers it and answers the call with it. */
  onBegun(): Promise<void>
  /** A change was written to the store. */
  onChanged(run: TaskRun, record: TaskRecord): void
  /** The task has ended. */
  onFinished(run: TaskRun): void
  onError(error: unknown, request: IncomingRequest): void
}

interface OpenRequest {
  readonly request: InputRequest
  readonly response: Deferred<unknown>
}

/**
 * A task that this process runs. It outlives the request, and the connection, that created it: only
 * cancellation, its time to live and the end of the server stop it.
 */
export class TaskRun implements TaskScope {
  /** The request that created the task, with an exchange that leads through the task. */
  readonly request: IncomingRequest
  readonly handle: CurrentTask
  /** The connections to the client, in session revisions. */
  readonly replyPath: TaskReplyPath
  /** Settles when the task has ended. */
  readonly finished: Promise<void>
  readonly #host: TaskRunHost
  readonly #stop = new AbortController()
  readonly #ended: Deferred<void> = deferred()
  readonly #open = new Map<string, OpenRequest>()
  /** Each key is used once in the life of a task. */
  readonly #used = new Set<string>()
  #record: TaskRecord
  #isBegun = false
  /** Whether the work runs as a task that is not stored yet. */
  #isProvisional = false
  /** Ends the delivery of responses from other processes, once it has begun. */
  #receiving: Promise<() => void> | undefined
  #beginning: Promise<void> | undefined
  #writing: Promise<void> | undefined

  constructor(record: TaskRecord, request: IncomingRequest, host: TaskRunHost) {
    this.#record = record
    this.#host = host
    this.finished = this.#ended.promise
    this.replyPath = new TaskReplyPath(request.session?.peer)
    this.handle = {
      id: record.id,
      message: text => void this.#change({ message: shortened(text) }),
    }
    const { exchange } = request
    const isSettled = () => !this.#isBegun && exchange.settled
    this.request = {
      ...request,
      // The result is stored, for other callers and in other encodings.
      acceptsRaw: false,
      task: this,
      exchange: {
        signal: this.#stop.signal,
        envelope: exchange.envelope,
        get settled() {
          return isSettled()
        },
        notify: (method, params) =>
          this.isBegun ? this.#notify(method, params) : exchange.notify(method, params),
      },
    }
  }

  /** The current state. */
  get record(): TaskRecord {
    return this.#record
  }

  get isBegun(): boolean {
    return this.#isBegun || this.#isProvisional
  }

  begin(): Promise<void> {
    this.#beginning ??= this.#begin()
    return this.#beginning
  }

  /**
   * Runs the work as a task, and stores the task only if the work does not end at once and requests no
   * input. Returns the result of work that has ended; undefined where the call has become a task.
   */
  async executeUnlessDone(
    work: (request: IncomingRequest) => HandlerResult,
  ): Promise<NamedParams | undefined> {
    this.#isProvisional = true
    const working = (async () => work(this.request))()
    // A failure becomes that of a task, so that callers find it in one place.
    const result = working.catch(() => undefined)
    const { done, wake } = sleep(0)
    const ended = await Promise.race([result, done])
    wake()
    if (ended !== undefined && !this.#isBegun) {
      this.#isProvisional = false
      return ended
    }
    try {
      await this.begin()
    } catch (error) {
      this.stop(error)
      throw error
    }
    void working.then(
      result => this.finish(result),
      (error: unknown) => this.fail(error),
    )
    return undefined
  }

  /** Runs the work and stores its result. */
  async execute(work: (request: IncomingRequest) => HandlerResult): Promise<void> {
    if (this.#stop.signal.aborted) return
    try {
      await this.finish(await work(this.request))
    } catch (error) {
      await this.fail(error)
    }
  }

  /** Ends the task with a result. */
  finish(result: NamedParams): Promise<void> {
    // In the extension only protocol errors are failures.
    const isFailure = this.#record.design === 'core' && result.isError === true
    return isFailure
      ? this.#end({ status: 'failed', message: failureMessage(result), result })
      : this.#end({ status: 'completed', result })
  }

  /** Ends the task with an error. Reports one that is not a protocol error. */
  fail(error: unknown): Promise<void> {
    const isPublic = error instanceof RpcError
    if (!isPublic && !this.#stop.signal.aborted) this.#host.onError(error, this.request)
    const shown = isPublic ? error : errors.internalError()
    const message = shortened(shown.message)
    return this.#end({ status: 'failed', message, error: errorRecord(shown) })
  }

  /** Aborts the work, and settles when the store holds the task as cancelled. */
  async cancel(message?: string): Promise<void> {
    const ending = this.#end({ status: 'cancelled', message })
    this.stop(errors.taskCancelled({ taskId: this.#record.id }))
    await ending
  }

  /** Aborts the work without a change in the store: no client can use the task any more. */
  stop(reason: unknown): void {
    this.#stop.abort(reason)
    this.#open.clear()
    if (!isFinal(this.#record.status)) this.#finished()
  }

  /** Renews the lease of the task. */
  renew(leaseUntil: string): void {
    if (isFinal(this.#record.status)) return
    this.#record = { ...this.#record, leaseUntil }
    // Without a notification: for clients nothing has changed.
    void this.#enqueue(this.#record, false)
  }

  async ask(
    request: InputRequest,
    key: string,
    options: ServerRequestOptions = {},
  ): Promise<unknown> {
    const { signal } = this.#stop
    signal.throwIfAborted()
    // The client can answer only for a task that it knows.
    if (this.#isProvisional) await this.begin()
    if (this.#record.design === 'extension' && this.#host.store.receive !== undefined) {
      await this.#receive()
    }
    const name = this.#unused(key)
    const response = deferred<unknown>()
    this.#open.set(name, { request, response })
    void this.#publishOpen()
    try {
      if (this.#record.design === 'extension') return await abortable(response.promise, signal)
      return await this.#call(request, options, signal)
    } finally {
      if (this.#open.delete(name)) void this.#publishOpen()
    }
  }

  /** Delivers responses by their keys; those to requests that are not open are ignored. */
  async respond(responses: NamedParams): Promise<void> {
    // In the core design the client responds to the call that it received.
    if (this.#record.design === 'core') return
    let isAnswered = false
    for (const [key, response] of Object.entries(responses)) {
      const open = this.#open.get(key)
      if (open === undefined) continue
      this.#open.delete(key)
      open.response.resolve(response)
      isAnswered = true
    }
    if (isAnswered) await this.#publishOpen()
  }

  /** Gets responses that clients send to other processes. */
  async #receive(): Promise<void> {
    const { store } = this.#host
    this.#receiving ??= store.receive?.(this.#record.id, responses => this.respond(responses))
    await this.#receiving?.catch(error => this.#host.onError(error, this.request))
  }

  async #begin(): Promise<void> {
    this.#stop.signal.throwIfAborted()
    const now = new Date().toISOString()
    this.#record = { ...this.#record, createdAt: now, updatedAt: now, ...this.#host.lease() }
    await this.#host.store.add(this.#record)
    this.#isBegun = true
    this.#isProvisional = false
    await this.#host.onBegun()
  }

  #call(
    request: InputRequest,
    { task }: ServerRequestOptions,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { caller, session } = this.request
    const params = relatedTo(this.#record.id, request.params)
    // The check: a request with more `_meta` is one of the same method.
    const related = { ...request, params } as InputRequest
    // A user may take as long as the task lives.
    const options = { caller, session, signal, task, timeoutMs: 0 }
    return this.replyPath.ask(related, signal, (calls, sent) =>
      sendServerRequest(calls, sent, options),
    )
  }

  #notify(method: string, params: object | undefined): void {
    // The extension has neither progress nor log messages of tasks.
    if (this.#record.design === 'extension' || isFinal(this.#record.status)) return
    this.replyPath.notify(method, relatedTo(this.#record.id, params))
  }

  #unused(key: string): string {
    let name = key
    for (let n = 2; this.#used.has(name); n++) name = `${key}-${n}`
    this.#used.add(name)
    return name
  }

  /** Writes the open input requests, and the status that follows from them. */
  #publishOpen(): Promise<void> {
    if (this.#open.size === 0) return this.#change({ status: 'working', inputRequests: undefined })
    const inputRequests = Object.fromEntries(
      Array.from(this.#open, ([key, { request }]) => [key, request]),
    )
    return this.#change({ status: 'input_required', inputRequests })
  }

  async #end(changes: Partial<TaskRecord>): Promise<void> {
    if (isFinal(this.#record.status)) return
    await this.#change({ ...changes, inputRequests: undefined })
    this.#finished()
  }

  #finished(): void {
    void this.#receiving?.then(stop => stop()).catch(() => {})
    this.#ended.resolve()
    this.#host.onFinished(this)
  }

  #change(changes: Partial<TaskRecord>): Promise<void> {
    if (isFinal(this.#record.status)) return Promise.resolve()
    const updatedAt = new Date().toISOString()
    const record = { ...this.#record, ...changes, updatedAt }
    this.#record = record
    if (this.#isProvisional) return Promise.resolve()
    return this.#enqueue(record, true)
  }

  #enqueue(record: TaskRecord, notifies: boolean): Promise<void> {
    // One after the other: a store may be slow, and the latest state must be the last one written.
    const earlier = this.#writing
    const write = () => this.#write(record, notifies)
    const writing = earlier === undefined ? write() : earlier.then(write)
    this.#writing = writing
    void writing.then(() => {
      if (this.#writing === writing) this.#writing = undefined
    })
    return writing
  }

  async #write(record: TaskRecord, notifies: boolean): Promise<void> {
    try {
      if (await this.#host.store.put(record)) {
        if (notifies) this.#host.onChanged(this, record)
      }
      // Another process has ended it, or its time to live is over.
      else this.stop(errors.taskCancelled({ taskId: record.id }))
    } catch (error) {
      this.#host.onError(error, this.request)
    }
  }
}
