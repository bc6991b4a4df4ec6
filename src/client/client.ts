import type { CallOptions } from '../jsonrpc/handler.ts'
import type { AllOf } from '../jsonrpc/peer/outbound.ts'
import type { Schema } from '../mcp/schema/standard-schema.ts'
import type { LogLevel, Members, PagedResult } from '../mcp/types/base.ts'
import type { CompleteResult } from '../mcp/types/completion.ts'
import { isLogLevel } from '../mcp/types/logging.ts'
import type { GetPromptResult, Prompt } from '../mcp/types/prompts.ts'
import type { Resource, ResourceTemplate } from '../mcp/types/resources.ts'
import type { Task } from '../mcp/types/tasks.ts'
import type { Tool } from '../mcp/types/tools.ts'
import { orAborted } from '../util/abort.ts'
import { isRecord } from '../util/record.ts'
import { type BatchRequests, sendBatch } from './batch.ts'
import type { ChangeFilter } from './changes/changes.ts'
import type { Changes } from './changes/subscription.ts'
import type { Dial, ServerDescription } from './connection/negotiate.ts'
import { Core } from './core.ts'
import { refused } from './errors.ts'
import type { ClientOptions, Roots } from './options.ts'
import { pages } from './pages.ts'
import { type Structured, structuredAs } from './requests/output-schemas.ts'
import type { RequestOptions } from './requests/requests.ts'
import {
  checkResult,
  type ResourceAnswer,
  type ResultOf,
  type Results,
  resourceAnswer,
  type ToolAnswer,
  toolAnswer,
} from './results.ts'
import type { TaskHandle } from './tasks/task.ts'
import type { StartOptions } from './tasks/tasks.ts'

/** How a list is fetched: each page within the time and with the signal given. */
export interface ListOptions extends CallOptions {
  /** Asks the server even if an earlier result is still fresh. */
  readonly fresh?: boolean
  /** How many pages are followed before the list counts as endless. */
  readonly maxPages?: number
  /** Told the `_meta` of each page that has one, such as what a router says of servers that are missing. */
  readonly onMeta?: (meta: Members) => void
}

/** How a tool is called. */
export interface CallToolOptions<S> extends RequestOptions {
  /** What the structured part of the answer is checked against, and typed by. */
  readonly output?: S
}

/** Whose argument is to be completed. */
export type CompletionOf = { readonly prompt: string } | { readonly resource: string }

/**
 * Connects to a server, finds out what it speaks, and gives a client for it.
 *
 * The client belongs to the caller, who closes it. Rejects with what `dial` rejects with, with an
 * RpcError when the server refuses, with a ChannelError `'refused'` when there is nothing both sides
 * speak, `'timeout'` when the server stays silent, with the signal's reason, or with a TypeError for
 * options that mean nothing.
 */
export async function openClient(dial: Dial, options: ClientOptions = {}): Promise<Client> {
  const core = new Core(dial, options)
  const { signal } = options
  const opening = core.open(signal)
  try {
    await orAborted(opening, signal)
  } catch (error) {
    // Whoever gives up does not wait for what was begun to end.
    opening.then(() => core.close()).then(undefined, () => {})
    throw error
  }
  return new Client(core)
}

/**
 * Typed calls to one server, in whichever revision it speaks.
 *
 * Calls reject with an RpcError when the server answers with an error, with a ChannelError when no
 * reply can come (`'timeout'`, `'closed'`, `'refused'`) or when it is unknown whether the call was
 * carried out (`'outcome-unknown'`), and with the reason of their signal. A lost connection is opened
 * again: calls that change nothing are repeated, subscriptions made again, all others told.
 */
export class Client implements AsyncDisposable {
  /** Settles when the client is closed; with the cause, unless `close` was called. */
  readonly closed: Promise<Error | undefined>
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
    this.closed = core.lifeline.closed
  }

  /** What the server says of itself, and the revision that is spoken with it. */
  get server(): ServerDescription {
    return this.#core.lifeline.latest.server
  }

  /** The tools of the server. Pages are fetched as they are reached. */
  async *tools(options: ListOptions = {}): AsyncGenerator<Tool, void, undefined> {
    for await (const tool of this.#list('tools/list', page => page.tools, options)) {
      this.#core.outputs.learn(tool)
      yield tool
    }
  }

  /** The resources of the server. Pages are fetched as they are reached. */
  resources(options: ListOptions = {}): AsyncGenerator<Resource, void, undefined> {
    return this.#list('resources/list', page => page.resources, options)
  }

  /** The families of resources of the server. Pages are fetched as they are reached. */
  resourceTemplates(options: ListOptions = {}): AsyncGenerator<ResourceTemplate, void, undefined> {
    return this.#list('resources/templates/list', page => page.resourceTemplates, options)
  }

  /** The prompts of the server. Pages are fetched as they are reached. */
  prompts(options: ListOptions = {}): AsyncGenerator<Prompt, void, undefined> {
    return this.#list('prompts/list', page => page.prompts, options)
  }

  /** The tasks this client has on the server, in the revisions that can list them. */
  tasks(options: ListOptions = {}): AsyncGenerator<Task, void, undefined> {
    return this.#list('tasks/list', page => page.tasks, options)
  }

  /**
   * Calls a tool. A tool that fails gives an answer with `isError`; only what is no answer rejects.
   *
   * The structured part is checked against the output schema of the tool, if the tool has been listed,
   * and against `output`; one that does not fit rejects with a ChannelError `'framing'`. A tool that was
   * listed as one that runs only as a task is called as one, and waited for.
   */
  call<const S extends Schema | undefined = undefined>(
    name: string,
    args?: object,
    options: CallToolOptions<S> = {},
  ): Promise<ToolAnswer<Structured<S>>> {
    const { requests, tasks, outputs } = this.#core
    if (tasks.isRequired(name, this.server)) return this.#callAsTask(name, args, options)
    const read = (result: unknown): ToolAnswer | Promise<ToolAnswer> => {
      const isPlain =
        options.output === undefined &&
        !outputs.knows(name) &&
        !tasks.isTask(result, this.server.revision)
      return isPlain ? toolAnswer(result) : this.#settled(name, result, options)
    }
    // The check: `output` says what it is; without it nothing is said.
    return requests.requestAs(read, 'tools/call', { name, arguments: args }, options) as Promise<
      ToolAnswer<Structured<S>>
    >
  }

  /** Reads a resource. */
  async read(uri: string, options?: RequestOptions): Promise<ResourceAnswer> {
    return resourceAnswer(await this.request('resources/read', { uri }, options))
  }

  /** Gets a prompt, filled in with the arguments. */
  prompt(
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: RequestOptions,
  ): Promise<GetPromptResult> {
    return this.request('prompts/get', { name, arguments: args }, options)
  }

  /**
   * Values that an argument could have, given what has been typed of it. `context` holds the arguments
   * that are settled already; revisions that cannot say it do without.
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
    const isSaid = context !== undefined && this.server.revision.features.completionContext
    const params = {
      ref,
      argument: { name: argument, value },
      ...(isSaid && { context: { arguments: context } }),
    }
    return (await this.request('completion/complete', params, options)).completion
  }

  /** Asks for log messages of this level and above, from now on. They go to `onLog`. */
  async setLogLevel(level: LogLevel, options?: CallOptions): Promise<void> {
    if (!isLogLevel(level)) throw new TypeError(`there is no log level "${level}"`)
    this.#core.logLevel = level
    if (this.server.revision.era === 'stateless') return
    await this.request('logging/setLevel', { level }, options)
  }

  /** Asks the server for a sign of life. Rejects with `'refused'` in revisions that have none. */
  async ping(options?: CallOptions): Promise<void> {
    const { revision } = this.server
    if (!revision.methods.has('ping')) throw refused('ping', `revision ${revision.name} has none`)
    await this.request('ping', undefined, options)
  }

  /** Other places the server may work in; it is told that they have changed, where it can be. */
  setRoots(roots: Roots): void {
    this.#core.answerer.setRoots(roots)
    if (this.server.revision.era === 'session') this.notify('notifications/roots/list_changed')
  }

  /**
   * Makes any request. Results of methods that are known are looked at as far as their types go; the
   * rest is whatever the server sent. `tools/call` may give a task instead of a result.
   */
  async request<const M extends string>(
    method: M,
    params?: object,
    options?: RequestOptions,
  ): Promise<ResultOf<M>> {
    return checkResult(method, await this.#core.requests.request(method, params, options))
  }

  /**
   * Sends a notification, if there is a connection: those that find none are dropped, because nobody
   * would know. Throws a ChannelError `'closed'` once the client is.
   */
  notify(method: string, params?: object): void {
    const opened = this.#core.lifeline.ready()
    if (!(opened instanceof Promise)) opened.link.notify(method, params)
  }

  /**
   * Sends several requests as one batch and settles as `Promise.all` does with what `build` returns.
   * Rejects with `'refused'` where neither the revision nor the profile has batches. Nothing in a batch
   * is repeated when the connection is lost.
   */
  batch<const T extends readonly unknown[]>(build: (batch: BatchRequests) => T): Promise<AllOf<T>> {
    return sendBatch(this.#core, build)
  }

  /** Calls a tool as a task. Rejects with `'refused'` where the server takes none. */
  start(name: string, args?: object, options: StartOptions = {}): Promise<TaskHandle> {
    return this.#core.tasks.start(name, args, options)
  }

  /** A handle on a task by its id, perhaps of another client. */
  task(id: string): Promise<TaskHandle> {
    return this.#core.tasks.resume(id)
  }

  /**
   * What changes on the server, from now on. Leaving the loop, or aborting the signal, ends it in good
   * order. A lost connection does not: it is told as `reconnected`.
   */
  changes(filter: ChangeFilter, options: { readonly signal?: AbortSignal } = {}): Changes {
    return this.#core.listens.changes(filter, options.signal)
  }

  /** Ends the connection for good; whatever waits rejects. Idempotent; never rejects. */
  close(): Promise<void> {
    return this.#core.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #callAsTask<S extends Schema | undefined>(
    name: string,
    args: object | undefined,
    options: CallToolOptions<S>,
  ): Promise<ToolAnswer<Structured<S>>> {
    const { settings, tasks } = this.#core
    const { signal, timeoutMs, maxTotalMs: totalMs = settings.totalMs } = options
    const answer = await tasks.run(name, args, { signal, timeoutMs, totalMs })
    return this.#checked(name, answer, options)
  }

  /** The answer behind a result that may be a task, or has to be checked. */
  async #settled<S extends Schema | undefined>(
    name: string,
    result: unknown,
    options: CallToolOptions<S>,
  ): Promise<ToolAnswer<Structured<S>>> {
    const { settings, tasks } = this.#core
    const { revision } = this.server
    const { signal, maxTotalMs: timeoutMs = settings.totalMs } = options
    // The delivery of the reply is no place for a schema that somebody else has written.
    await undefined
    const answer = tasks.isTask(result, revision)
      ? await tasks.settle(result, revision, { signal, timeoutMs })
      : toolAnswer(result)
    return this.#checked(name, answer, options)
  }

  async #checked<S extends Schema | undefined>(
    name: string,
    answer: ToolAnswer,
    { output }: CallToolOptions<S>,
  ): Promise<ToolAnswer<Structured<S>>> {
    const { outputs } = this.#core
    if (outputs.knows(name)) await outputs.check(name, answer)
    // The check: `output` says what it is; without it nothing is said.
    if (output === undefined || answer.isError) return answer as ToolAnswer<Structured<S>>
    const structured = await structuredAs(output, name, answer)
    return { ...answer, structured: structured as Structured<S> }
  }

  /** What cursors belong to: a session, if there is one, or else the server. */
  #session(): unknown {
    const { lifeline } = this.#core
    if (this.server.revision.era === 'stateless') return undefined
    const opened = lifeline.ready()
    return opened instanceof Promise ? opened : opened.link
  }

  #list<M extends keyof Lists, T extends object>(
    method: M,
    entries: (page: Results[M]) => readonly T[],
    { maxPages, onMeta, ...options }: ListOptions,
  ): AsyncGenerator<T, void, undefined> {
    const getPage = async (cursor: string | undefined, isAgain: boolean) => {
      const params = cursor === undefined ? {} : { cursor }
      const how = isAgain ? { ...options, fresh: true } : options
      // The check: the results of `Lists` are pages.
      const page = (await this.request(method, params, how)) as Results[M] & PagedResult
      if (onMeta !== undefined && isRecord(page._meta)) onMeta(page._meta)
      return page
    }
    const isEmptyCursor = () => this.server.revision.era === 'stateless'
    return pages(getPage, {
      method,
      entries,
      isEmptyCursor,
      maxPages,
      session: () => this.#session(),
    })
  }
}

type Lists = Pick<
  Results,
  'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list' | 'tasks/list'
>
