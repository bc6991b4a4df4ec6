import type { Caller } from '../mcp/caller.ts'
import { isLogLevel, type LogLevel } from '../mcp/types/logging.ts'
import type { Root } from '../mcp/types/roots.ts'
import type { SampleParams, SampleResult } from '../mcp/types/sampling.ts'
import { isRecord } from '../util/record.ts'
import type { Session } from './core/session.ts'
import { Log } from './features/logging.ts'
import { Progress } from './features/progress.ts'
import { type Elicit, elicit } from './input/elicit.ts'
import type { Asking } from './input/input-run.ts'
import { requireRoots } from './input/require-capability.ts'
import { rootsAnswer } from './input/roots.ts'
import { sampleAnswer, sampleParams } from './input/sample.ts'
import type { ServerRequest } from './request.ts'
import type { AskOptions, TaskHandle } from './tasks/scope.ts'

/**
 * What the code of a tool, prompt or resource receives beside its arguments. The same handler works in
 * every revision: where the client cannot be called back, a question ends this run and the retry runs
 * the handler again.
 */
export class Context {
  readonly #request: ServerRequest
  readonly #asking: Asking
  #progress: Progress | undefined
  #log: Log | undefined

  constructor(request: ServerRequest, asking: Asking) {
    this.#request = request
    this.#asking = asking
  }

  /** Aborted when the caller cancels or the connection ends; in a task, only when it is cancelled. */
  get signal(): AbortSignal {
    return this.#request.exchange.signal
  }

  /** Who asks: revision, capabilities, client, principal. */
  get caller(): Caller {
    return this.#request.caller
  }

  /** The session the request came in; none where requests speak for themselves. */
  get session(): Session | undefined {
    const { caller, session } = this.#request
    return caller.revision.era === 'session' ? session : undefined
  }

  /** The task that the call has become; none while it is an ordinary call. */
  get task(): TaskHandle | undefined {
    const { task } = this.#request
    return task?.isBegun ? task.handle : undefined
  }

  /**
   * Makes a task of the call, where its tool is defined with `taskBegins: 'in-handler'` and the caller
   * takes tasks: the caller is told so, and the handler goes on as that task. Questions asked before are
   * settled before there is a task. Does nothing where the call is a task already or cannot be one.
   */
  async beginTask(): Promise<void> {
    await this.#request.task?.begin()
  }

  /**
   * Closes the connection that waits for the result, and lets the client come back for it: for work
   * that takes longer than the proxies on the way let a connection live. What is told meanwhile is kept
   * for it too. Returns false, and does nothing, unless the request came over HTTP in a session whose
   * client knows how to come back.
   */
  hangUp(): boolean {
    const { exchange, session } = this.#request
    const { about } = exchange.envelope
    return about !== undefined && (session?.poll(about) ?? false)
  }

  /** The request's own `_meta`. */
  get meta(): Readonly<Record<string, unknown>> {
    const { _meta } = this.#request.params
    return isRecord(_meta) ? _meta : {}
  }

  /** Answers to what `inputRequired` has asked, by key. */
  get answers(): ReadonlyMap<string, unknown> {
    return this.#asking.answers
  }

  /** What `inputRequired` was given to come back with. */
  get state(): unknown {
    return this.#asking.state
  }

  /**
   * Tells how far the work has come, if the caller wants to know. Must increase; what does not, or
   * comes too fast, is left out.
   */
  progress(progress: number, total?: number, message?: string): void {
    this.#progress ??= new Progress(this.#request)
    this.#progress.tell(progress, total, message)
  }

  /** Sends a log message to the caller, if it wants messages of this level. Too many are left out. */
  log(level: LogLevel, data: unknown, logger?: string): void {
    if (!isLogLevel(level)) throw new TypeError(`there is no log level "${level}"`)
    this.#log ??= new Log(this.#request)
    this.#log.tell(level, data, logger)
  }

  /**
   * Asks the person behind the client, by a form or on a web page. Gives the checked content of the
   * form; throws `Declined` or `Cancelled`, unless `onDecline: 'return'` asks for the whole answer.
   */
  get elicit(): Elicit {
    return question => {
      const ask = (params: object, key: string | undefined) =>
        this.#ask('elicitation/create', params, key, question)
      // The check: what comes back was checked against the schema that the type was made of.
      return awaited(elicit(this.caller, ask, question)) as Promise<never>
    }
  }

  /** Asks the client's model. */
  sample(
    params: SampleParams,
    options: { readonly key?: string } & AskOptions = {},
  ): Promise<SampleResult> {
    const { key } = options
    const ask = async () => {
      const asked = sampleParams(this.caller, params)
      const answer = await this.#ask('sampling/createMessage', asked, key, options)
      return sampleAnswer(this.caller, answer, key)
    }
    return awaited(ask())
  }

  /** Asks for the folders the client works in. */
  roots(options: { readonly key?: string } = {}): Promise<readonly Root[]> {
    const { key } = options
    const ask = async () => {
      requireRoots(this.caller)
      return rootsAnswer(this.caller, await this.#ask('roots/list', undefined, key), key)
    }
    return awaited(ask())
  }

  /** Runs `effect` once, even if the handler is run again after a question. The result must be JSON. */
  once<T>(key: string, effect: () => T | Promise<T>): Promise<T> {
    return this.#asking.once(key, effect)
  }

  #ask(
    method: string,
    params: object | undefined,
    key: string | undefined,
    options?: AskOptions,
  ): Promise<unknown> {
    // The check: the three callers above pass the params of their own method.
    return this.#asking.ask({ method, params } as Parameters<Asking['ask']>[0], key, options)
  }
}

/**
 * A question that may end the handler before it is awaited, as the second of two that were begun
 * together: nobody would be there to hear of it, and the process would end.
 */
function awaited<T>(asked: Promise<T>): Promise<T> {
  asked.catch(() => {})
  return asked
}
