import type { CallOptions } from '../../jsonrpc/handler.ts'
import type { ToolAnswer } from '../../mcp/content/tool-answer.ts'
import { tasksExtension } from '../../mcp/extension.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import { isRecord } from '../../util/objects.ts'
import type { ServerDescription } from '../connection/negotiate.ts'
import { invalidResponse, isTimeout, refused } from '../errors.ts'
import type { ListedTaskSupport } from '../requests/output-schemas.ts'
import type { RequestOptions } from '../requests/request-run.ts'
import { toolAnswer } from '../results.ts'
import { TaskPolling, type TaskPollingHost } from './run.ts'
import { readTask, type TaskHandle, type TaskInfo } from './task.ts'

/** Options of a tool call as a task. The timeout is for the start of the task. */
export interface StartOptions extends CallOptions {
  /** How long the server should keep the task, in the revisions where the client can request that. */
  readonly ttlMs?: number
}

/** What tasks need from their client. */
export interface ClientTasksHost extends Pick<TaskPollingHost, 'settings' | 'answer'> {
  request(method: string, params: object, options?: RequestOptions): Promise<unknown>
  server(): Promise<ServerDescription>
  /** Whether the client has declared the tasks extension. */
  readonly isDeclared: boolean
  /** Returns the task support of a tool; undefined if it has not been listed. */
  taskSupport(name: string): ListedTaskSupport | undefined
}

/** The tasks of one client, in both task designs of the protocol. */
export class ClientTasks {
  readonly #host: ClientTasksHost
  /** The runs that are being polled, by task id. */
  readonly #runs = new Map<string, Set<TaskPolling>>()

  constructor(host: ClientTasksHost) {
    this.#host = host
  }

  /** Calls a tool as a task. Rejects with a ChannelError `'refused'` if the server does not support that. */
  async start(name: string, args: object | undefined, options: StartOptions): Promise<TaskHandle> {
    const server = await this.#host.server()
    const { revision, capabilities } = server
    const { ttlMs, signal, timeoutMs } = options
    const isOffered =
      revision.features.tasks === 'core'
        ? capabilities.tasks?.requests?.tools?.call !== undefined
        : this.#host.isDeclared && capabilities.extensions?.[tasksExtension] !== undefined
    if (!isOffered) throw refused('tools/call', 'the server does not support tool calls as tasks')
    if (revision.features.tasks === 'core' && this.#host.taskSupport(name) === 'forbidden') {
      throw refused('tools/call', `tool "${name}" does not support tasks`)
    }
    const task = revision.features.tasks === 'core' ? { task: { ttl: ttlMs } } : {}
    const params = { name, arguments: args, ...task }
    const result = await this.#host.request('tools/call', params, { signal, timeoutMs })
    const info = createdTask(result, revision)
    return info === undefined ? finished(toolAnswer(result)) : this.#run(info, revision)
  }

  /** Whether a tool must be called as a task, in the revision where the client decides. */
  isRequired(name: string, { revision, capabilities }: ServerDescription): boolean {
    if (revision.features.tasks !== 'core' || this.#host.taskSupport(name) !== 'required')
      return false
    return capabilities.tasks?.requests?.tools?.call !== undefined
  }

  /** Calls a tool as a task and waits for its result. A timeout or an abort cancels the task. */
  async run(
    name: string,
    args: object | undefined,
    { signal, timeoutMs, totalMs }: CallOptions & { readonly totalMs: number },
  ): Promise<ToolAnswer> {
    const task = await this.start(name, args, { signal, timeoutMs })
    return orCancel(task, { signal, timeoutMs: totalMs })
  }

  /** Returns a handle of an existing task, which another process may have started. */
  async resume(id: string): Promise<TaskHandle> {
    const { revision } = await this.#host.server()
    if (revision.features.tasks === 'none') {
      throw refused('tasks/get', `no tasks in protocol version ${revision.name}`)
    }
    const run = this.#run(
      { id, status: 'working', message: undefined, pollMs: undefined },
      revision,
    )
    await run.refresh()
    return run
  }

  /** Whether a result is a task that the server has created unasked, as the tasks extension allows. */
  isTask(result: unknown, { features }: Revision): boolean {
    return features.tasks === 'extension' && isRecord(result) && result.resultType === 'task'
  }

  /** Waits for the result of such a task. A timeout or an abort cancels the task. */
  async settle(result: unknown, revision: Revision, options: CallOptions): Promise<ToolAnswer> {
    return orCancel(this.#run(readTask(result), revision), options)
  }

  /** Polls a task now, because its status has changed. */
  onChanged(params: unknown): void {
    const id = isRecord(params) ? params.taskId : undefined
    if (typeof id !== 'string') return
    for (const run of this.#runs.get(id) ?? []) run.wake()
  }

  #run(info: TaskInfo, revision: Revision): TaskPolling {
    return new TaskPolling(info, revision, {
      settings: this.#host.settings,
      answer: (inputRequests, signal) => this.#host.answer(inputRequests, signal),
      request: (method, params, options) => this.#host.request(method, params, options),
      onFollowed: (run, isFollowed) => this.#follow(info.id, run, isFollowed),
    })
  }

  #follow(id: string, run: TaskPolling, isFollowed: boolean): void {
    const runs = this.#runs.get(id) ?? new Set()
    if (isFollowed) runs.add(run)
    else runs.delete(run)
    if (runs.size === 0) this.#runs.delete(id)
    else this.#runs.set(id, runs)
  }
}

/** Waits for the result of a task; cancels the task on a timeout or an abort. */
async function orCancel(task: TaskHandle, options: CallOptions): Promise<ToolAnswer> {
  try {
    return await task.result(options)
  } catch (error) {
    if (isTimeout(error) || options.signal?.aborted) task.cancel().then(undefined, () => {})
    throw error
  }
}

/** Reads the task that a call has created; undefined if the call has a result instead. */
function createdTask(result: unknown, { features }: Revision): TaskInfo | undefined {
  if (!isRecord(result)) throw invalidResponse('tools/call', 'the result is not an object')
  if (features.tasks === 'core') return isRecord(result.task) ? readTask(result.task) : undefined
  return result.resultType === 'task' ? readTask(result) : undefined
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
