import { RpcError } from '../../jsonrpc/error.ts'
import type { CallOptions } from '../../jsonrpc/handler.ts'
import type { ToolAnswer } from '../../mcp/content/tool-answer.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { InputResponses } from '../../mcp/types/input.ts'
import { isFinal, type TaskStatus } from '../../mcp/types/tasks.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { abortable, type Deferred, deferred } from '../../util/promises.ts'
import { timed } from '../../util/time/deadline.ts'
import { isStatus } from '../changes/changes.ts'
import { invalidResponse, isLost } from '../errors.ts'
import { CallTimeout } from '../requests/call-timeout.ts'
import type { RequestOptions } from '../requests/request-run.ts'
import { toolAnswer } from '../results.ts'
import type { Settings } from '../settings.ts'
import { readTask, type TaskHandle, type TaskInfo, type TaskUpdate } from './task.ts'

/** What a task run needs from its client. */
export interface TaskPollingHost {
  readonly settings: Settings
  request(method: string, params: object, options?: RequestOptions): Promise<unknown>
  /** Handles the input requests of a task, and returns the responses under the same keys. */
  answer(inputRequests: Members, signal: AbortSignal): Promise<InputResponses>
  /** Called when the run starts and stops following status notifications of the task. */
  onFollowed(run: TaskPolling, isFollowed: boolean): void
}

/** One task, which is polled while its result or its updates are being awaited. */
export class TaskPolling implements TaskHandle {
  readonly #host: TaskPollingHost
  readonly #revision: Revision
  #info: TaskInfo
  /** The outcome of the task, shared by all callers that wait for it. */
  readonly #outcome: Deferred<unknown> = deferred()
  /** Settles with the next change of the status. */
  #changed: Deferred<void> = deferred()
  readonly #answered = new Set<string>()
  #stop: AbortController | undefined
  #followers = 0
  #wake: () => void = () => {}
  #isNotified = false
  #isSettled = false

  constructor(info: TaskInfo, revision: Revision, host: TaskPollingHost) {
    this.#info = info
    this.#revision = revision
    this.#host = host
    this.#outcome.promise.then(undefined, () => {})
  }

  get id(): string {
    return this.#info.id
  }

  get status(): TaskStatus {
    return this.#info.status
  }

  get message(): string | undefined {
    return this.#info.message
  }

  async result(options?: CallOptions): Promise<ToolAnswer> {
    return toolAnswer(await this.outcome(options))
  }

  /** Settles with the result as the server sent it. Rejects as `result` does. */
  async outcome(options: CallOptions = {}): Promise<unknown> {
    const { settings } = this.#host
    const timeout = new CallTimeout({
      what: `task ${this.id}`,
      deadlines: settings.deadlines,
      timeoutMs: options.timeoutMs ?? 0,
      totalMs: 0,
    })
    this.#follow()
    try {
      return await timeout.wait(abortable(this.#outcome.promise, options.signal))
    } finally {
      timeout.end()
      this.#unfollow()
    }
  }

  async cancel(): Promise<void> {
    try {
      const result = await this.#request('tasks/cancel')
      // One task design responds with the task, the other with an empty result.
      if (isRecord(result) && isStatus(result.status)) this.#update(readTask(result))
      else await this.#refreshCancelled()
      // The task is not polled any more: a server may drop a cancelled task at once.
      if (this.status === 'cancelled') this.#fail(errors.taskCancelled({ taskId: this.id }))
    } catch (error) {
      // Refused because the task has finished, which is fine.
      if (!(error instanceof RpcError)) throw error
      await this.refresh()
      if (!isFinal(this.status)) throw error
    }
    this.wake()
  }

  /** Reads the status of a task that the server has agreed to cancel and may have dropped by now. */
  async #refreshCancelled(): Promise<void> {
    try {
      await this.refresh()
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      this.#update({ ...this.#info, status: 'cancelled', message: undefined })
    }
  }

  get updates(): AsyncIterable<TaskUpdate> {
    return { [Symbol.asyncIterator]: () => this.#updates() }
  }

  /** Reads the status of the task from the server. */
  async refresh(): Promise<Members> {
    const result = await this.#request('tasks/get')
    if (!isRecord(result)) throw invalidResponse('tasks/get', 'the result is not an object')
    this.#update(readTask(result))
    return result
  }

  /** Polls now, because the server has sent a status notification. */
  wake(): void {
    this.#isNotified = true
    this.#wake()
  }

  async *#updates(): AsyncGenerator<TaskUpdate, void, undefined> {
    this.#follow()
    try {
      for (;;) {
        const changed = this.#changed.promise
        const { status, message } = this.#info
        yield { status, message }
        if (isFinal(status)) return
        // An error while polling ends the loop too.
        await Promise.race([changed, this.#outcome.promise])
      }
    } finally {
      this.#unfollow()
    }
  }

  #update(info: TaskInfo): void {
    const before = this.#info
    if (isFinal(before.status) && !isFinal(info.status)) return
    this.#info = info
    if (before.status === info.status && before.message === info.message) return
    this.#changed.resolve()
    this.#changed = deferred()
  }

  #follow(): void {
    if (this.#followers++ > 0 || this.#isSettled) return
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
    while (!signal.aborted && !this.#isSettled) {
      try {
        const raw = await this.refresh()
        if (signal.aborted) return
        if (isFinal(this.status) || this.#mustWaitForResult()) {
          this.#settle(await this.#result(raw, signal))
          return
        }
        if (isRecord(raw.inputRequests)) await this.#answer(raw.inputRequests, signal)
      } catch (error) {
        if (signal.aborted) return
        // The task lives on the server: after a lost connection the client reconnects and polls again.
        if (!isLost(error)) this.#fail(error)
      }
      if (!this.#isSettled) await this.#pause(signal)
    }
  }

  /** In sessions, the server requests of a task are sent while `tasks/result` is in flight. */
  #mustWaitForResult(): boolean {
    return this.#revision.features.tasks === 'core' && this.status === 'input_required'
  }

  async #result(raw: Members, signal: AbortSignal): Promise<unknown> {
    if (this.status === 'cancelled') throw errors.taskCancelled({ taskId: this.id })
    if (this.#revision.features.tasks === 'core') {
      const result = await this.#request('tasks/result', {}, { signal, timeoutMs: 0 })
      // The status is still the one from before the wait.
      if (!isFinal(this.status)) await this.refresh()
      return result
    }
    if (this.status === 'completed') return raw.result
    const { error } = raw
    if (!isRecord(error) || typeof error.code !== 'number') {
      throw invalidResponse('tasks/get', 'the failed task has no error')
    }
    const { code, data } = error
    const message = typeof error.message === 'string' ? error.message : 'the task failed'
    throw this.#host.settings.fromWire({ code, message, data }, this.#revision)
  }

  /** Handles the input requests that are new: keys are never reused in the life of a task. */
  async #answer(inputRequests: Members, signal: AbortSignal): Promise<void> {
    const open = Object.entries(inputRequests).filter(([key]) => !this.#answered.has(key))
    if (open.length === 0) return
    const responses = this.#host.answer(Object.fromEntries(open), signal)
    const inputResponses = await abortable(responses, signal)
    await this.#request('tasks/update', { inputResponses })
    for (const [key] of open) this.#answered.add(key)
  }

  #request(method: string, params: object = {}, options?: RequestOptions): Promise<unknown> {
    return this.#host.request(method, { taskId: this.id, ...params }, options)
  }

  #settle(result: unknown): void {
    this.#isSettled = true
    this.#outcome.resolve(result)
  }

  #fail(error: unknown): void {
    this.#isSettled = true
    this.#outcome.reject(error)
  }

  /** Waits until the next poll: the interval of the server, within limits, or until a status notification. */
  #pause(signal: AbortSignal): Promise<void> {
    const { deadlines } = this.#host.settings
    const intervalMs = this.#info.pollMs ?? limits.taskPollMs.default
    return new Promise(resolve => {
      const alarm = timed(() => done())
      const done = () => {
        this.#isNotified = false
        deadlines.stop(alarm)
        signal.removeEventListener('abort', done)
        this.#wake = () => {}
        resolve()
      }
      this.#wake = done
      signal.addEventListener('abort', done)
      deadlines.start(alarm, Math.max(intervalMs, limits.taskPollMinMs.default))
      // A notification that arrived during the poll may be newer than what the poll returned.
      if (this.#isNotified || signal.aborted) done()
    })
  }
}
