import type { CallOptions } from '../jsonrpc/handler.ts'
import type { AllOf } from '../jsonrpc/peer/outbound.ts'
import type { ToolAnswer } from '../mcp/content/tool-answer.ts'
import type { Schema } from '../mcp/schema/standard-schema.ts'
import type { LogLevel, PagedResult } from '../mcp/types/base.ts'
import type { CompleteResult } from '../mcp/types/completion.ts'
import { isLogLevel } from '../mcp/types/logging.ts'
import type { GetPromptResult, Prompt } from '../mcp/types/prompts.ts'
import type { ClientMethod, ClientRequests } from '../mcp/types/requests.ts'
import type { Resource, ResourceTemplate } from '../mcp/types/resources.ts'
import type { Skill } from '../mcp/types/skills.ts'
import type { Task } from '../mcp/types/tasks.ts'
import type { Tool } from '../mcp/types/tools.ts'
import { abortable } from '../util/promises.ts'
import { type BatchRequests, sendBatch } from './batch.ts'
import {
  type CallToolOptions,
  type CompletionOf,
  changesTable,
  type ListOptions,
  optionProblem,
  requestTable,
  startTable,
} from './call-options.ts'
import type { ChangeFilter } from './changes/changes.ts'
import type { Changes } from './changes/subscription.ts'
import type { Dial, ServerDescription } from './connection/negotiate.ts'
import { Core } from './core.ts'
import { refused } from './errors.ts'
import { listEntries } from './lists.ts'
import type { ClientOptions, Roots } from './options.ts'
import type {
  AnyPrompts,
  AnyTools,
  ArgumentsAnd,
  InputOf,
  OutputOf,
  Structured,
} from './requests/call-types.ts'
import { structuredAs } from './requests/output-schemas.ts'
import type { RequestOptions } from './requests/request-run.ts'
import {
  checkResult,
  type ResourceAnswer,
  type ResultOf,
  resourceAnswer,
  toolAnswer,
} from './results.ts'
import { checkSkillsDeclared, type LoadedSkill, loadSkill } from './skills.ts'
import type { TaskHandle } from './tasks/task.ts'
import type { StartOptions } from './tasks/tasks.ts'

/**
 * Connects to a server, negotiates the protocol revision, and returns a client.
 *
 * The caller owns the client and must close it. Rejects with the error of `dial`, with an RpcError if the
 * server refuses, with a ChannelError `'refused'` if there is no common protocol revision, `'timeout'` if
 * the server does not respond, with the signal's reason, or with a TypeError for invalid options.
 *
 * `identity` returns who is authenticated on the connections of `dial`. Cached results are dropped when it
 * changes.
 */
export async function openClient(
  dial: Dial,
  options: ClientOptions = {},
  identity?: () => string,
): Promise<Client> {
  const core = new Core(dial, options, undefined, identity)
  const { signal } = options
  const opening = core.open(signal)
  try {
    await abortable(opening, signal)
  } catch (error) {
    // An abort does not wait for the connection; if it opens all the same, it is closed.
    opening.then(() => core.close()).then(undefined, () => {})
    throw error
  }
  return new Client(core)
}

/**
 * Typed calls to one server, in every protocol revision.
 *
 * Calls reject with an RpcError if the server responds with an error, with a ChannelError if there can be
 * no response (`'timeout'`, `'closed'`, `'refused'`) or if it is unknown whether the call was executed
 * (`'outcome-unknown'`), and with the reason of their signal. The client reconnects when the connection is
 * lost: it retries requests that are safe to repeat, restores subscriptions, and rejects all other calls.
 *
 * `Tools` and `Prompts` are what the compiler knows of the server: by name, the types of each tool
 * ({@link ToolTypes}) and the arguments of each prompt. Without them every name is accepted.
 */
export class Client<Tools = AnyTools, Prompts = AnyPrompts> implements AsyncDisposable {
  /** Settles when the client is closed; with the cause, unless `close` was called. */
  readonly closed: Promise<Error | undefined>
  readonly #core: Core

  /** @internal `connect` and `openClient` create clients. */
  constructor(core: Core) {
    this.#core = core
    this.closed = core.reconnecting.closed
  }

  /** What the server says of itself, and the negotiated protocol revision. */
  get server(): ServerDescription {
    return this.#core.reconnecting.latest.server
  }

  /** Lists the tools of the server. Pages are fetched as the iteration reaches them. */
  async *tools(options: ListOptions = {}): AsyncGenerator<Tool, void, undefined> {
    for await (const tool of this.#list('tools/list', page => page.tools, options)) {
      this.#core.outputs.add(tool)
      yield tool
    }
  }

  /** Lists the resources of the server. Pages are fetched as the iteration reaches them. */
  resources(options: ListOptions = {}): AsyncGenerator<Resource, void, undefined> {
    return this.#list('resources/list', page => page.resources, options)
  }

  /** Lists the resource templates of the server. Pages are fetched as the iteration reaches them. */
  resourceTemplates(options: ListOptions = {}): AsyncGenerator<ResourceTemplate, void, undefined> {
    return this.#list('resources/templates/list', page => page.resourceTemplates, options)
  }

  /** Lists the prompts of the server. Pages are fetched as the iteration reaches them. */
  prompts(options: ListOptions = {}): AsyncGenerator<Prompt, void, undefined> {
    return this.#list('prompts/list', page => page.prompts, options)
  }

  /**
   * Lists the skills of the server, without reading their files. Rejects with `'refused'` if the server has
   * not declared the skills extension.
   */
  async *skills(options: ListOptions = {}): AsyncGenerator<Skill, void, undefined> {
    checkSkillsDeclared(this.server, 'skills/list')
    yield* this.#list('skills/list', page => page.skills, options)
  }

  /** Lists the files and folders in a folder of a skill, if the server has declared that it can. */
  async *directory(
    uri: string,
    options: ListOptions = {},
  ): AsyncGenerator<Resource, void, undefined> {
    checkSkillsDeclared(this.server, 'resources/directory/read')
    yield* this.#list('resources/directory/read', page => page.resources, options, { uri })
  }

  /** Lists the tasks of this client on the server, in the revisions that have `tasks/list`. */
  tasks(options: ListOptions = {}): AsyncGenerator<Task, void, undefined> {
    return this.#list('tasks/list', page => page.tasks, options)
  }

  /**
   * Calls a tool. A tool that fails resolves with `isError`; the call rejects only without a tool result.
   *
   * The structured content is checked against the output schema of the tool, if the tool has been listed,
   * and against `output`; a mismatch rejects with a ChannelError `'framing'`. A tool that was listed with
   * `taskSupport: 'required'` is called as a task, whose result the call waits for.
   */
  call<Name extends keyof Tools & string, const S extends Schema | undefined = undefined>(
    name: Name,
    ...args: ArgumentsAnd<InputOf<Tools[Name]>, CallToolOptions<S>>
  ): Promise<ToolAnswer<Structured<S, OutputOf<Tools[Name]>>>>
  call(
    name: string,
    args?: unknown,
    options: CallToolOptions<Schema | undefined> = {},
  ): Promise<ToolAnswer> {
    const { requests, tasks, outputs } = this.#core
    const problem = optionProblem(options, requestTable)
    if (problem !== undefined) return Promise.reject(problem)
    // The check: the signature above takes objects.
    const given = args as object | undefined
    if (tasks.isRequired(name, this.server)) return this.#callAsTask(name, given, options)
    const read = (result: unknown): ToolAnswer | Promise<ToolAnswer> => {
      const isPlain =
        options.output === undefined &&
        !outputs.has(name) &&
        !tasks.isTask(result, this.server.revision)
      return isPlain ? toolAnswer(result) : this.#settled(name, result, options)
    }
    return requests.requestAs(read, 'tools/call', { name, arguments: given }, options)
  }

  /** Reads a resource. */
  async read(uri: string, options?: RequestOptions): Promise<ResourceAnswer> {
    return resourceAnswer(await this.request('resources/read', { uri }, options))
  }

  /**
   * Loads a skill: an entry of `skills()`, or the skill with this URI. Reads its `SKILL.md` and compares it
   * with the entry; content that differs rejects with a ChannelError `'framing'`.
   */
  async skill(skill: string | Skill, options?: RequestOptions): Promise<LoadedSkill> {
    checkSkillsDeclared(this.server, 'skills/get')
    return loadSkill(this, skill, options)
  }

  /** Gets a prompt, rendered with the arguments. */
  prompt<Name extends keyof Prompts & string>(
    name: Name,
    ...args: ArgumentsAnd<Prompts[Name], RequestOptions>
  ): Promise<GetPromptResult>
  prompt(name: string, args?: unknown, options?: RequestOptions): Promise<GetPromptResult> {
    return this.request('prompts/get', { name, arguments: args }, options)
  }

  /**
   * Returns completions for an argument of which `value` has been typed. `context` holds the arguments that
   * are known already; it is not sent in revisions without it.
   */
  async complete(
    of: CompletionOf,
    argument: string,
    value: string,
    context?: Readonly<Record<string, string>>,
    options?: RequestOptions,
  ): Promise<CompleteResult['completion']> {
    const ref =
      'prompt' in of
        ? { type: 'ref/prompt', name: of.prompt }
        : { type: 'ref/resource', uri: of.resource }
    const hasContext = context !== undefined && this.server.revision.features.completionContext
    const params = {
      ref,
      argument: { name: argument, value },
      ...(hasContext && { context: { arguments: context } }),
    }
    return (await this.request('completion/complete', params, options)).completion
  }

  /** Requests log messages of this level and above from now on. They are passed to `onLog`. */
  async setLogLevel(level: LogLevel, options?: CallOptions): Promise<void> {
    if (!isLogLevel(level)) throw new TypeError(`unknown log level "${level}"`)
    this.#core.logLevel = level
    if (this.server.revision.features.logLevel === 'request') return
    await this.request('logging/setLevel', { level }, options)
  }

  /** Pings the server. Rejects with `'refused'` in revisions without `ping`. */
  async ping(options?: CallOptions): Promise<void> {
    const { revision } = this.server
    if (!revision.methods.has('ping'))
      throw refused('ping', `not in protocol version ${revision.name}`)
    await this.request('ping', undefined, options)
  }

  /** Replaces the roots, and notifies the server in revisions that have the notification. */
  setRoots(roots: Roots): void {
    this.#core.handlers.setRoots(roots)
    const method = 'notifications/roots/list_changed'
    if (this.server.revision.methods.has(method)) this.notify(method)
  }

  /**
   * Sends any request. Results of known methods are checked for their required members; others are
   * returned as the server sent them. `tools/call` may return a task instead of a result.
   */
  async request<const M extends string>(
    method: M,
    params?: object,
    options?: RequestOptions,
  ): Promise<ResultOf<M>> {
    const problem = optionProblem(options, requestTable)
    if (problem !== undefined) throw problem
    return checkResult(method, await this.#core.requests.request(method, params, options))
  }

  /**
   * Sends a notification. It is dropped while there is no connection: a notification has no response that
   * could report the failure. Throws a ChannelError `'closed'` once the client is closed.
   */
  notify(method: string, params?: object): void {
    const opened = this.#core.reconnecting.ready()
    if (!(opened instanceof Promise)) opened.connection.notify(method, params)
  }

  /**
   * Sends several requests as one batch and settles as `Promise.all` does with what `build` returns.
   * Rejects with `'refused'` if neither the revision nor the profile has batches. The requests of a batch
   * are not retried when the connection is lost.
   */
  batch<const T extends readonly unknown[]>(build: (batch: BatchRequests) => T): Promise<AllOf<T>> {
    return sendBatch(this.#core, build)
  }

  /** Calls a tool as a task. Rejects with `'refused'` if the server does not support that. */
  start<Name extends keyof Tools & string>(
    name: Name,
    ...args: ArgumentsAnd<InputOf<Tools[Name]>, StartOptions>
  ): Promise<TaskHandle<OutputOf<Tools[Name]>>>
  start(name: string, args?: unknown, options: StartOptions = {}): Promise<TaskHandle> {
    const problem = optionProblem(options, startTable)
    if (problem !== undefined) return Promise.reject(problem)
    // The check: the signature above takes objects.
    return this.#core.tasks.start(name, args as object | undefined, options)
  }

  /** Returns a handle of an existing task by its id, which another client may have started. */
  task(id: string): Promise<TaskHandle> {
    return this.#core.tasks.resume(id)
  }

  /**
   * Subscribes to changes on the server. Leaving the loop, or aborting the signal, unsubscribes. The
   * subscription survives a lost connection and then yields a change of type `reconnected`.
   */
  changes(filter: ChangeFilter, options: { readonly signal?: AbortSignal } = {}): Changes {
    const problem = optionProblem(options, changesTable)
    if (problem !== undefined) throw problem
    return this.#core.subscriptions.changes(filter, options.signal)
  }

  /** Closes the connection for good; calls in flight reject. Idempotent; never rejects. */
  close(): Promise<void> {
    return this.#core.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #callAsTask(
    name: string,
    args: object | undefined,
    options: CallToolOptions<Schema | undefined>,
  ): Promise<ToolAnswer> {
    const { settings, tasks } = this.#core
    const { signal, timeoutMs, maxTotalMs: totalMs = settings.totalMs } = options
    const answer = await tasks.run(name, args, { signal, timeoutMs, totalMs })
    return this.#checked(name, answer, options)
  }

  /** Returns the answer for a result that may be a task or must be checked. */
  async #settled(
    name: string,
    result: unknown,
    options: CallToolOptions<Schema | undefined>,
  ): Promise<ToolAnswer> {
    const { settings, tasks } = this.#core
    const { revision } = this.server
    const { signal, maxTotalMs: timeoutMs = settings.totalMs } = options
    // Schemas are code of others, which must not run inside the delivery of the response.
    await undefined
    const answer = tasks.isTask(result, revision)
      ? await tasks.settle(result, revision, { signal, timeoutMs })
      : toolAnswer(result)
    return this.#checked(name, answer, options)
  }

  async #checked(
    name: string,
    answer: ToolAnswer,
    { output }: CallToolOptions<Schema | undefined>,
  ): Promise<ToolAnswer> {
    const { outputs } = this.#core
    if (outputs.has(name)) await outputs.check(name, answer)
    if (output === undefined || answer.isError) return answer
    return { ...answer, structured: await structuredAs(output, name, answer) }
  }

  #list<M extends ListMethod, T extends object>(
    method: M,
    entries: (page: ClientRequests[M]['result']) => readonly T[],
    options: ListOptions,
    of: object = {},
  ): AsyncGenerator<T, void, undefined> {
    return listEntries(this.#core, {
      method,
      entries,
      options,
      // The check: the results of these methods are pages.
      get: (params, how) =>
        this.request(method, { ...of, ...params }, how) as Promise<
          ClientRequests[M]['result'] & PagedResult
        >,
    })
  }
}

/** The methods whose results are pages. */
type ListMethod = {
  [M in ClientMethod]: 'nextCursor' extends keyof ClientRequests[M]['result'] ? M : never
}[ClientMethod]
