import { RpcError } from '../../jsonrpc/error.ts'
import type { CallOptions } from '../../jsonrpc/handler.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { InputResponses } from '../../mcp/types/input.ts'
import { isFinal, type TaskStatus } from '../../mcp/types/tasks.ts'
import { orAborted } from '../../util/abort.ts'
import { type Deferred, deferred } from '../../util/deferred.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'
import { timed } from '../../util/time/deadline.ts'
import { isStatus } from '../changes/changes.ts'
import { isLost, unreadable } from '../errors.ts'
import { Patience } from '../requests/call-timeout.ts'
import type { RequestOptions } from '../requests/requests.ts'
import { type ToolAnswer, toolAnswer } from '../results.ts'
import type { Settings } from '../settings.ts'
import { type TaskFacts, type TaskHandle, type TaskUpdate, taskFacts } from './task.ts'

/** What following a task takes. */
export interface TaskRunHost {
  readonly settings: Settings
  request(method: string, params: object, options?: RequestOptions): Promise<unknown>
  /** Answers the questions of a task by their keys. */
  answer(questions: Members, signal: AbortSignal): Promise<InputResponses>
  /** Told when the run begins and ends to care for news of the task. */
  onFollowed(run: TaskRun, isFollowed: boolean): void
}

/** One task, followed while anybody waits for it. */
export class TaskRun implements TaskHandle {
  readonly #host: TaskRunHost
  readonly #revision: Revision
  #facts: TaskFacts
  /** How it ended; there is one promise for all who wait. */
  readonly #outcome: Deferred<unknown> = deferred()
  /** Settles with the next change. */
  #changed: Deferred<void> = deferred()
  readonly #answered = new Set<string>()
  #stop: AbortController | undefined
  #followers = 0
  #wake: () => void = () => {}
  #hasNews = false
  #isOver = false

  constructor(facts: TaskFacts, revision: Revision, host: TaskRunHost) {
    this.#facts = facts
    this.#revision = revision
    this.#host = host
    this.#outcome.promise.then(undefined, () => {})
  }

  get id(): string {
    return this.#facts.id
  }

  get status(): TaskStatus {
    return this.#facts.status
  }

  get message(): string | undefined {
    return this.#facts.message
  }

  async result(options?: CallOptions): Promise<ToolAnswer> {
    return toolAnswer(await this.outcome(options))
  }

  /** The same as it came. */
  async outcome(options: CallOptions = {}): Promise<unknown> {
    const { settings } = this.#host
    const patience = new Patience({
      what: `task ${this.id}`,
      deadlines: settings.deadlines,
      timeoutMs: options.timeoutMs ?? 0,
      totalMs: 0,
    })
    this.#follow()
    try {
      return await patience.wait(orAborted(this.#outcome.promise, options.signal))
    } finally {
      patience.end()
      this.#unfollow()
    }
  }

  async cancel(): Promise<void> {
    try {
      const result = await this.#request('tasks/cancel')
      // One design answers with the task, the other with nothing.
      if (isRecord(result) && isStatus(result.status)) this.#learn(taskFacts(result))
      else await this.#lookOnce()
      // Nothing more is asked of it: a server may forget what was cancelled at once.
      if (this.status === 'cancelled') this.#fail(errors.taskCancelled({ taskId: this.id }))
    } catch (error) {
      // Refused because it is over: that is what was wanted.
      if (!(error instanceof RpcError)) throw error
      await this.look()
      if (!isFinal(this.status)) throw error
    }
    this.wake()
  }

  /** Looks at a task that the server has agreed to cancel, and may have forgotten by now. */
  async #lookOnce(): Promise<void> {
    try {
      await this.look()
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      this.#learn({ ...this.#facts, status: 'cancelled', message: undefined })
    }
  }

  get updates(): AsyncIterable<TaskUpdate> {
    return { [Symbol.asyncIterator]: () => this.#updates() }
  }

  /** Asks the server how the task is. */
  async look(): Promise<Members> {
    const result = await this.#request('tasks/get')
    if (!isRecord(result)) throw unreadable('tasks/get', 'the result is no object')
    this.#learn(taskFacts(result))
    return result
  }

  /** There are news: looks now. */
  wake(): void {
    this.#hasNews = true
    this.#wake()
  }

  async *#updates(): AsyncGenerator<TaskUpdate, void, undefined> {
    this.#follow()
    try {
      for (;;) {
        const changed = this.#changed.promise
        const { status, message } = this.#facts
        yield { status, message }
        if (isFinal(status)) return
        // A task that cannot be followed any more ends the loop as it ends those who wait.
        await Promise.race([changed, this.#outcome.promise])
      }
    } finally {
      this.#unfollow()
    }
  }

  #learn(facts: TaskFacts): void {
    const before = this.#facts
    if (isFinal(before.status) && !isFinal(facts.status)) return
    this.#facts = facts
    if (before.status === facts.status && before.message === facts.message) return
    this.#changed.resolve()
    this.#changed = deferred()
  }

  #follow(): void {
    if (this.#followers++ > 0 || this.#isOver) return
    this.#host.onFollowed(this, true)
    const stop = new AbortController()
    this.#stop = stop
    void this.#run(stop.signal)
  }

  #unfollow(): void {
    if (--this.#followers > 0) return
    this.#host.onFollowed(this, false)
    this.#stop?.abort()
    this.#stop = undefined
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#isOver) {
      try {
        const raw = await this.look()
        if (signal.aborted) return
        if (isFinal(this.status) || this.#mustWaitForResult()) {
          this.#settle(await this.#result(raw, signal))
          return
        }
        if (isRecord(raw.inputRequests)) await this.#answer(raw.inputRequests, signal)
      } catch (error) {
        if (signal.aborted) return
        // The task lives on the server: a lost connection is opened again, and then it is asked again.
        if (!isLost(error)) this.#fail(error)
      }
      if (!this.#isOver) await this.#pause(signal)
    }
  }

  /** In sessions the questions of a task come while its result is waited for. */
  #mustWaitForResult(): boolean {
    return this.#revision.features.tasks === 'core' && this.status === 'input_required'
  }

  async #result(raw: Members, signal: AbortSignal): Promise<unknown> {
    if (this.status === 'cancelled') throw errors.taskCancelled({ taskId: this.id })
    if (this.#revision.features.tasks === 'core') {
      const result = await this.#request('tasks/result', {}, { signal, timeoutMs: 0 })
      // Whoever had to wait for it has not heard that the task is over.
      if (!isFinal(this.status)) await this.look()
      return result
    }
    if (this.status === 'completed') return raw.result
    const { error } = raw
    if (!isRecord(error) || typeof error.code !== 'number') {
      throw unreadable('tasks/get', 'a failed task has no error')
    }
    const { code, data } = error
    const message = typeof error.message === 'string' ? error.message : 'the task failed'
    throw this.#host.settings.fromWire({ code, message, data }, this.#revision)
  }

  /** Answers what has not been answered yet: keys are never used twice in the life of a task. */
  async #answer(questions: Members, signal: AbortSignal): Promise<void> {
    const open = Object.entries(questions).filter(([key]) => !this.#answered.has(key))
    if (open.length === 0) return
    const answering = this.#host.answer(Object.fromEntries(open), signal)
    const inputResponses = await orAborted(answering, signal)
    await this.#request('tasks/update', { inputResponses })
    for (const [key] of open) this.#answered.add(key)
  }

  #request(method: string, params: object = {}, options?: RequestOptions): Promise<unknown> {
    return this.#host.request(method, { taskId: this.id, ...params }, options)
  }

  #settle(result: unknown): void {
    this.#isOver = true
    this.#outcome.resolve(result)
  }

  #fail(error: unknown): void {
    this.#isOver = true
    this.#outcome.reject(error)
  }

  /** Until the next look: as long as the server wishes, within reason, or until there are news. */
  #pause(signal: AbortSignal): Promise<void> {
    const { deadlines } = this.#host.settings
    const wantedMs = this.#facts.pollMs ?? limits.taskPollMs.default
    return new Promise(resolve => {
      const alarm = timed(() => over())
      const over = () => {
        this.#hasNews = false
        deadlines.stop(alarm)
        signal.removeEventListener('abort', over)
        this.#wake = () => {}
        resolve()
      }
      this.#wake = over
      signal.addEventListener('abort', over)
      deadlines.start(alarm, Math.max(wantedMs, limits.taskPollMinMs.default))
      // News that came during the look may be newer than what it saw.
      if (this.#hasNews || signal.aborted) over()
    })
  }
}
