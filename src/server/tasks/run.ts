import { RpcError } from '../../jsonrpc/error.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { InputRequest } from '../../mcp/types/input.ts'
import { isFinal } from '../../mcp/types/tasks.ts'
import { orAborted } from '../../util/abort.ts'
import { type Deferred, deferred } from '../../util/deferred.ts'
import type { Answer, Params, ServerRequest } from '../request.ts'
import { putQuestion } from './ask.ts'
import { kept, relatedTo, short, whyFailed } from './encode.ts'
import { TaskWay } from './reply-path.ts'
import type { AskOptions, TaskHandle, TaskScope } from './scope.ts'
import type { TaskRecord, TaskStore } from './store.ts'

/** What carrying out a task takes of whoever keeps them all. */
export interface TaskRunHost {
  readonly store: TaskStore
  /** A change has been written. */
  onChanged(run: TaskRun, record: TaskRecord): void
  /** Nothing more is going to happen. */
  onOver(run: TaskRun): void
  onError(error: unknown, request: ServerRequest): void
}

interface Question {
  readonly question: InputRequest
  readonly answer: Deferred<unknown>
}

/**
 * A task while this process carries it out. It outlives the request, and the connection, that it came
 * with: only cancelling it, its time and the end of the server stop it.
 */
export class TaskRun implements TaskScope {
  /** The request it came with, whose way back leads through the task. */
  readonly request: ServerRequest
  readonly handle: TaskHandle
  /** The ways to whoever made it, in session revisions. */
  readonly way: TaskWay
  /** Settles when nothing more is going to happen. */
  readonly over: Promise<void>
  readonly #host: TaskRunHost
  readonly #enter: () => Promise<void>
  readonly #stop = new AbortController()
  readonly #ended: Deferred<void> = deferred()
  readonly #open = new Map<string, Question>()
  /** Keys are used once in the life of a task. */
  readonly #used = new Set<string>()
  #record: TaskRecord
  #isBegun = false
  #beginning: Promise<void> | undefined
  #writing: Promise<void> | undefined

  /** `enter` makes the task known and answers the call with it. */
  constructor(
    record: TaskRecord,
    request: ServerRequest,
    host: TaskRunHost,
    enter: () => Promise<void>,
  ) {
    this.#record = record
    this.#host = host
    this.#enter = enter
    this.over = this.#ended.promise
    this.way = new TaskWay(request.session?.peer)
    this.handle = { id: record.id, message: text => void this.#change({ message: short(text) }) }
    const { exchange } = request
    const isOver = () => !this.#isBegun && exchange.settled
    this.request = {
      ...request,
      // What becomes of it is kept, for others and in other words.
      takesWritten: false,
      task: this,
      exchange: {
        signal: this.#stop.signal,
        envelope: exchange.envelope,
        get settled() {
          return isOver()
        },
        notify: (method, params) =>
          this.#isBegun ? this.#notify(method, params) : exchange.notify(method, params),
      },
    }
  }

  get record(): TaskRecord {
    return this.#record
  }

  get isBegun(): boolean {
    return this.#isBegun
  }

  begin(): Promise<void> {
    this.#beginning ??= this.#begin()
    return this.#beginning
  }

  /** Does the work; what it gives is kept. */
  async carryOut(work: (request: ServerRequest) => Answer): Promise<void> {
    if (this.#stop.signal.aborted) return
    try {
      await this.finish(await work(this.request))
    } catch (error) {
      await this.fail(error)
    }
  }

  finish(result: Params): Promise<void> {
    // In the extension only protocol errors are failures.
    const isFailure = this.#record.design === 'core' && result.isError === true
    return isFailure
      ? this.#end({ status: 'failed', message: whyFailed(result), result })
      : this.#end({ status: 'completed', result })
  }

  fail(error: unknown): Promise<void> {
    const isMeant = error instanceof RpcError
    if (!isMeant && !this.#stop.signal.aborted) this.#host.onError(error, this.request)
    const shown = isMeant ? error : errors.internalError()
    return this.#end({ status: 'failed', message: short(shown.message), error: kept(shown) })
  }

  /** Settles when the task is known to be cancelled; its work is told to stop before that. */
  async cancel(message?: string): Promise<void> {
    const ending = this.#end({ status: 'cancelled', message })
    this.stop(errors.taskCancelled({ taskId: this.#record.id }))
    await ending
  }

  /** Stops the work without a word: nobody can come for the task any more. */
  stop(reason: unknown): void {
    this.#stop.abort(reason)
    this.#open.clear()
    if (!isFinal(this.#record.status)) this.#leave()
  }

  async ask(question: InputRequest, key: string, options: AskOptions = {}): Promise<unknown> {
    const { signal } = this.#stop
    signal.throwIfAborted()
    const name = this.#unused(key)
    const answer = deferred<unknown>()
    this.#open.set(name, { question, answer })
    void this.#tellOpen()
    try {
      if (this.#record.design === 'extension') return await orAborted(answer.promise, signal)
      return await this.#call(question, options, signal)
    } finally {
      if (this.#open.delete(name)) void this.#tellOpen()
    }
  }

  /** Takes answers by their keys; those to questions that are not open are ignored. */
  async answer(responses: Params): Promise<void> {
    // Where the client is called, it answers what it was called with.
    if (this.#record.design === 'core') return
    let isAnswered = false
    for (const [key, response] of Object.entries(responses)) {
      const asked = this.#open.get(key)
      if (asked === undefined) continue
      this.#open.delete(key)
      asked.answer.resolve(response)
      isAnswered = true
    }
    if (isAnswered) await this.#tellOpen()
  }

  async #begin(): Promise<void> {
    this.#stop.signal.throwIfAborted()
    const now = new Date().toISOString()
    this.#record = { ...this.#record, createdAt: now, updatedAt: now }
    await this.#host.store.add(this.#record)
    this.#isBegun = true
    await this.#enter()
  }

  #call(question: InputRequest, { task }: AskOptions, signal: AbortSignal): Promise<unknown> {
    const { caller, session } = this.request
    const params = relatedTo(this.#record.id, question.params)
    // The check: a question with more `_meta` is one of the same method.
    const related = { ...question, params } as InputRequest
    // A person may take as long as the task has.
    const asked = { caller, session, signal, task, timeoutMs: 0 }
    return this.way.ask(related, signal, (way, put) => putQuestion(way, put, asked))
  }

  #notify(method: string, params: object | undefined): void {
    // The extension has neither progress nor log messages of tasks.
    if (this.#record.design === 'extension' || isFinal(this.#record.status)) return
    this.way.notify(method, relatedTo(this.#record.id, params))
  }

  #unused(key: string): string {
    let name = key
    for (let n = 2; this.#used.has(name); n++) name = `${key}-${n}`
    this.#used.add(name)
    return name
  }

  #tellOpen(): Promise<void> {
    if (this.#open.size === 0) return this.#change({ status: 'working', questions: undefined })
    const questions = Object.fromEntries(
      Array.from(this.#open, ([key, { question }]) => [key, question]),
    )
    return this.#change({ status: 'input_required', questions })
  }

  async #end(changes: Partial<TaskRecord>): Promise<void> {
    if (isFinal(this.#record.status)) return
    await this.#change({ ...changes, questions: undefined })
    this.#leave()
  }

  #leave(): void {
    this.#ended.resolve()
    this.#host.onOver(this)
  }

  #change(changes: Partial<TaskRecord>): Promise<void> {
    if (isFinal(this.#record.status)) return Promise.resolve()
    const updatedAt = new Date().toISOString()
    const record = { ...this.#record, ...changes, updatedAt }
    this.#record = record
    // One after the other: a store may take its time, and the last word must be the last one written.
    const earlier = this.#writing
    const writing =
      earlier === undefined ? this.#put(record) : earlier.then(() => this.#put(record))
    this.#writing = writing
    void writing.then(() => {
      if (this.#writing === writing) this.#writing = undefined
    })
    return writing
  }

  async #put(record: TaskRecord): Promise<void> {
    try {
      if (await this.#host.store.put(record)) this.#host.onChanged(this, record)
      // Ended by another process, or its time is up.
      else this.stop(errors.taskCancelled({ taskId: record.id }))
    } catch (error) {
      this.#host.onError(error, this.request)
    }
  }
}
