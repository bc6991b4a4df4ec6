import type { CallOptions } from '../../jsonrpc/handler.ts'
import { tasksExtension } from '../../mcp/extension.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import { isRecord } from '../../util/record.ts'
import type { ServerDescription } from '../connection/negotiate.ts'
import { isTimeout, refused, unreadable } from '../errors.ts'
import type { TaskSupport } from '../requests/output-schemas.ts'
import type { RequestOptions } from '../requests/requests.ts'
import { type ToolAnswer, toolAnswer } from '../results.ts'
import { TaskRun, type TaskRunHost } from './run.ts'
import { type TaskFacts, type TaskHandle, taskFacts } from './task.ts'

/** How a tool is called as a task. The time is that for the task to begin. */
export interface StartOptions extends CallOptions {
  /** How long the server is asked to keep the task, where the client has a say in it. */
  readonly ttlMs?: number
}

/** What tasks need from their client. */
export interface TasksHost extends Pick<TaskRunHost, 'settings' | 'answer'> {
  request(method: string, params: object, options?: RequestOptions): Promise<unknown>
  server(): Promise<ServerDescription>
  /** Whether the client has declared the extension. */
  readonly isDeclared: boolean
  /** How a tool runs, as far as it has been listed. */
  taskSupport(name: string): TaskSupport | undefined
}

/** The tasks of one client, in both of the protocol's designs. */
export class Tasks {
  readonly #host: TasksHost
  /** Those that are being followed. */
  readonly #runs = new Map<string, Set<TaskRun>>()

  constructor(host: TasksHost) {
    this.#host = host
  }

  /** Calls a tool as a task. Rejects with a ChannelError `'refused'` where there are none. */
  async start(name: string, args: object | undefined, options: StartOptions): Promise<TaskHandle> {
    const server = await this.#host.server()
    const { revision, capabilities } = server
    const { ttlMs, signal, timeoutMs } = options
    const isOffered =
      revision.features.tasks === 'core'
        ? capabilities.tasks?.requests?.tools?.call !== undefined
        : this.#host.isDeclared && capabilities.extensions?.[tasksExtension] !== undefined
    if (!isOffered) throw refused('tools/call', 'the server does not take calls of tools as tasks')
    if (revision.features.tasks === 'core' && this.#host.taskSupport(name) === 'forbidden') {
      throw refused('tools/call', `the tool "${name}" does not run as a task`)
    }
    const task = revision.features.tasks === 'core' ? { task: { ttl: ttlMs } } : {}
    const params = { name, arguments: args, ...task }
    const result = await this.#host.request('tools/call', params, { signal, timeoutMs })
    const facts = createdTask(result, revision)
    return facts === undefined ? finished(toolAnswer(result)) : this.#run(facts, revision)
  }

  /** Whether a tool has to be called as a task, in the revision that leaves it to the client. */
  isRequired(name: string, { revision, capabilities }: ServerDescription): boolean {
    if (revision.features.tasks !== 'core' || this.#host.taskSupport(name) !== 'required')
      return false
    return capabilities.tasks?.requests?.tools?.call !== undefined
  }

  /** Calls a tool as a task and waits for what it gives. It is cancelled when the caller gives up. */
  async run(
    name: string,
    args: object | undefined,
    { signal, timeoutMs, totalMs }: CallOptions & { readonly totalMs: number },
  ): Promise<ToolAnswer> {
    const task = await this.start(name, args, { signal, timeoutMs })
    return givingUp(task, { signal, timeoutMs: totalMs })
  }

  /** A handle on a task started before, perhaps by another process. */
  async resume(id: string): Promise<TaskHandle> {
    const { revision } = await this.#host.server()
    if (revision.features.tasks === 'none') {
      throw refused('tasks/get', `revision ${revision.name} has no tasks`)
    }
    const run = this.#run(
      { id, status: 'working', message: undefined, pollMs: undefined },
      revision,
    )
    await run.look()
    return run
  }

  /** Whether the server made a task of a call unasked, as only stateless ones may. */
  isTask(result: unknown, { era }: Revision): boolean {
    return era === 'stateless' && isRecord(result) && result.resultType === 'task'
  }

  /** What such a task gives. It is cancelled when the caller gives up. */
  async settle(result: unknown, revision: Revision, options: CallOptions): Promise<ToolAnswer> {
    return givingUp(this.#run(taskFacts(result), revision), options)
  }

  /** A task has changed: whoever follows it looks at once instead of later. */
  onChanged(params: unknown): void {
    const id = isRecord(params) ? params.taskId : undefined
    if (typeof id !== 'string') return
    for (const run of this.#runs.get(id) ?? []) run.wake()
  }

  #run(facts: TaskFacts, revision: Revision): TaskRun {
    return new TaskRun(facts, revision, {
      settings: this.#host.settings,
      answer: (questions, signal) => this.#host.answer(questions, signal),
      request: (method, params, options) => this.#host.request(method, params, options),
      onFollowed: (run, isFollowed) => this.#follow(facts.id, run, isFollowed),
    })
  }

  #follow(id: string, run: TaskRun, isFollowed: boolean): void {
    const runs = this.#runs.get(id) ?? new Set()
    if (isFollowed) runs.add(run)
    else runs.delete(run)
    if (runs.size === 0) this.#runs.delete(id)
    else this.#runs.set(id, runs)
  }
}

/** What a task gives to somebody who has it cancelled when they give up. */
async function givingUp(task: TaskHandle, options: CallOptions): Promise<ToolAnswer> {
  try {
    return await task.result(options)
  } catch (error) {
    if (isTimeout(error) || options.signal?.aborted) task.cancel().then(undefined, () => {})
    throw error
  }
}

/** The task that a call became; undefined when it was answered. */
function createdTask(result: unknown, { features }: Revision): TaskFacts | undefined {
  if (!isRecord(result)) throw unreadable('tools/call', 'the result is no object')
  if (features.tasks === 'core') return isRecord(result.task) ? taskFacts(result.task) : undefined
  return result.resultType === 'task' ? taskFacts(result) : undefined
}

function finished(answer: ToolAnswer): TaskHandle {
  const status = answer.isError ? 'failed' : 'completed'
  return {
    id: undefined,
    status,
    message: undefined,
    result: async () => answer,
    cancel: async () => {},
    updates: {
      async *[Symbol.asyncIterator]() {
        yield { status, message: undefined }
      },
    },
  }
}
