import type { Caller } from '../mcp/caller.ts'
import { isLogLevel, type LogLevel } from '../mcp/types/logging.ts'
import type { Root } from '../mcp/types/roots.ts'
import type { SampleParams, SampleResult } from '../mcp/types/sampling.ts'
import { isRecord } from '../util/objects.ts'
import { requireScopes } from './features/access.ts'
import { RequestLog } from './features/logging.ts'
import { ProgressReporter } from './features/progress.ts'
import { type Elicit, elicit } from './input/elicit.ts'
import { rootsResponse } from './input/input-responses.ts'
import type { InputRun } from './input/input-run.ts'
import { requireRoots } from './input/require-capability.ts'
import { sampleParams, sampleResponse } from './input/sample.ts'
import type { IncomingRequest } from './request.ts'
import { headersOf, sessionOf } from './request-context.ts'
import type { Session } from './session.ts'
import type { CurrentTask, ServerRequestOptions } from './tasks/scope.ts'

/**
 * The second argument of the handlers of tools, prompts and resources. The same handler works in every
 * revision: where the server cannot call the client, a request to it ends this run, and the client's
 * retry runs the handler again. `Env` is the type of what the option `context` of the server returns.
 */
export class Context<Env = unknown> {
  readonly #request: IncomingRequest
  readonly #run: InputRun
  #progress: ProgressReporter | undefined
  #log: RequestLog | undefined

  /** @internal The server creates the contexts of handlers. */
  constructor(request: IncomingRequest, run: InputRun) {
    this.#request = request
    this.#run = run
  }

  /** Aborted when the caller cancels or the connection closes; in a task, only when that is cancelled. */
  get signal(): AbortSignal {
    return this.#request.exchange.signal
  }

  /** The caller of the request: revision, capabilities, client, principal. */
  get caller(): Caller {
    return this.#request.caller
  }

  /** The HTTP headers of the request, by lower-case name; empty on transports without headers. */
  get headers(): Readonly<Record<string, string>> {
    return headersOf(this.#request)
  }

  /** What the option `context` of the server has returned for this request. */
  get env(): Env {
    // The check: the option `context` of the server is typed to return an Env.
    return this.#request.env as Env
  }

  /** The URI that is read; undefined in tools and prompts. */
  get uri(): string | undefined {
    const { method, params } = this.#request
    return method === 'resources/read' && typeof params.uri === 'string' ? params.uri : undefined
  }

  /**
   * Requires scopes of the caller's token. Throws an error that a client over HTTP gets as a challenge, with
   * which it can ask the user for these scopes and try again.
   */
  require(...scopes: readonly string[]): void {
    requireScopes(this.caller.principal, scopes)
  }

  /** The session of the request; undefined for a stateless request. */
  get session(): Session | undefined {
    return sessionOf(this.#request)
  }

  /** The task that the call runs as; undefined while it is a plain call. */
  get task(): CurrentTask | undefined {
    const { task } = this.#request
    return task?.isBegun ? task.handle : undefined
  }

  /**
   * Turns the call into a task, where its tool is defined with `taskStart: 'in-handler'` and the caller
   * supports tasks: the call is answered with the task, and the handler continues as that task. Requests
   * to the client that came before are part of the plain call. Does nothing where the call is a task
   * already or cannot be one.
   */
  async beginTask(): Promise<void> {
    await this.#request.task?.begin()
  }

  /**
   * Closes the event stream that waits for the result, and lets the client reconnect for it: for work
   * that takes longer than proxies keep a connection open. Messages that are sent meanwhile are kept for
   * the client too. Returns false, and does nothing, unless the request came over HTTP in a session whose
   * client supports that.
   */
  closeStream(): boolean {
    const { exchange, session } = this.#request
    const { about } = exchange.envelope
    return about !== undefined && (session?.poll(about) ?? false)
  }

  /** The request's own `_meta`. */
  get meta(): Readonly<Record<string, unknown>> {
    const { _meta } = this.#request.params
    return isRecord(_meta) ? _meta : {}
  }

  /** The client's responses to the requests of `inputRequired`, by key. */
  get answers(): ReadonlyMap<string, unknown> {
    return this.#run.answers
  }

  /** The state that `inputRequired` was given. */
  get state(): unknown {
    return this.#run.state
  }

  /**
   * Sends progress to the caller, if it has requested progress. Must increase; a value that does not increase, or
   * comes too fast, is dropped.
   */
  progress(progress: number, total?: number, message?: string): void {
    this.#progress ??= new ProgressReporter(this.#request)
    this.#progress.send(progress, total, message)
  }

  /** Sends a log message to the caller, if it has requested messages of this level. Drops those beyond the rate. */
  log(level: LogLevel, data: unknown, logger?: string): void {
    if (!isLogLevel(level)) throw new TypeError(`unknown log level "${level}"`)
    this.#log ??= new RequestLog(this.#request)
    this.#log.send(level, data, logger)
  }

  /**
   * Requests input from the user, by a form or on a web page. Returns the checked content of the form;
   * throws `Declined` or `Cancelled`, or with `onDecline: 'return'` returns the whole answer.
   */
  get elicit(): Elicit {
    return request => {
      const ask = (params: object, key: string | undefined) =>
        this.#ask('elicitation/create', params, key, request)
      // The check: the content was checked against the schema that the type was made of.
      return handled(elicit(this.caller, ask, request)) as Promise<never>
    }
  }

  /** Requests a completion from the client's model. */
  sample(
    params: SampleParams,
    options: { readonly key?: string } & ServerRequestOptions = {},
  ): Promise<SampleResult> {
    const { key } = options
    const ask = async () => {
      const encoded = sampleParams(this.caller, params)
      const response = await this.#ask('sampling/createMessage', encoded, key, options)
      return sampleResponse(this.caller, response, key)
    }
    return handled(ask())
  }

  /** Requests the roots of the client: the folders that it works in. */
  roots(options: { readonly key?: string } = {}): Promise<readonly Root[]> {
    const { key } = options
    const ask = async () => {
      requireRoots(this.caller)
      return rootsResponse(this.caller, await this.#ask('roots/list', undefined, key), key)
    }
    return handled(ask())
  }

  /** Runs `effect` once, even if the handler is run again for input. The result must be JSON. */
  once<T>(key: string, effect: () => T | Promise<T>): Promise<T> {
    return this.#run.once(key, effect)
  }

  #ask(
    method: string,
    params: object | undefined,
    key: string | undefined,
    options?: ServerRequestOptions,
  ): Promise<unknown> {
    // The check: the three callers above pass the params of their own method.
    return this.#run.ask({ method, params } as Parameters<InputRun['ask']>[0], key, options)
  }
}

/**
 * Marks a rejection as handled. A request may end the run before its promise is awaited, as the second
 * of two that were started together: the unhandled rejection would end the process.
 */
function handled<T>(sent: Promise<T>): Promise<T> {
  sent.catch(() => {})
  return sent
}
