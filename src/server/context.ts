import type { Caller } from '../mcp/caller.ts'
import { isLogLevel, type LogLevel } from '../mcp/types/logging.ts'
import type { Root } from '../mcp/types/roots.ts'
import type { SampleParams, SampleResult } from '../mcp/types/sampling.ts'
import type { Asking } from './ask.ts'
import { missingCapability } from './capability.ts'
import { type Elicit, elicit } from './elicit.ts'
import { wantsLog } from './logging.ts'
import { Progress } from './progress.ts'
import { isRecord, type ServerRequest } from './request.ts'
import type { Session } from './session.ts'

/**
 * What the code of a tool, prompt or resource receives beside its arguments. The same handler works in
 * every revision: where the client cannot be called back, a question ends this run and the retry runs
 * the handler again.
 */
export class Context {
  readonly #request: ServerRequest
  readonly #asking: Asking
  #progress: Progress | undefined

  constructor(request: ServerRequest, asking: Asking) {
    this.#request = request
    this.#asking = asking
  }

  /** Aborted when the caller cancels or the connection ends. */
  get signal(): AbortSignal {
    return this.#request.exchange.signal
  }

  /** Who asks: revision, capabilities, client, principal. */
  get caller(): Caller {
    return this.#request.caller
  }

  /** The session the request came in; none where requests speak for themselves. */
  get session(): Session | undefined {
    return this.#request.session
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

  /** Sends a log message to the caller, if it wants messages of this level. */
  log(level: LogLevel, data: unknown, logger?: string): void {
    if (!isLogLevel(level)) throw new TypeError(`there is no log level "${level}"`)
    const { exchange, caller, session } = this.#request
    if (!wantsLog(caller, session, level)) return
    const told = exchange.notify('notifications/message', { level, logger, data })
    if (told !== undefined) told.then(undefined, () => {})
  }

  /**
   * Asks the person behind the client, by a form or on a web page. Gives the checked content of the
   * form; throws `Declined` or `Cancelled`, unless `onDecline: 'return'` asks for the whole answer.
   */
  readonly elicit: Elicit = async question => {
    const ask = (params: object, key: string | undefined) =>
      this.#ask('elicitation/create', params, key)
    // The check: what comes back was checked against the schema that the type was made of.
    return (await elicit(this.caller, ask, question)) as never
  }

  /** Asks the client's model. */
  async sample(
    params: SampleParams,
    options: { readonly key?: string } = {},
  ): Promise<SampleResult> {
    const { sampling } = this.caller.capabilities
    if (sampling === undefined) throw missingCapability(this.caller, 'sampling', { sampling: {} })
    if (params.tools !== undefined && !(isRecord(sampling) && 'tools' in sampling)) {
      throw missingCapability(this.caller, 'sampling.tools', { sampling: { tools: {} } })
    }
    // The check: the answer to this method is a sample, and its author is the client.
    return (await this.#ask('sampling/createMessage', params, options.key)) as SampleResult
  }

  /** Asks for the folders the client works in. */
  async roots(options: { readonly key?: string } = {}): Promise<readonly Root[]> {
    if (this.caller.capabilities.roots === undefined) {
      throw missingCapability(this.caller, 'roots', { roots: {} })
    }
    const answer = await this.#ask('roots/list', undefined, options.key)
    // The check: a list, whose entries are the client's own words.
    return isRecord(answer) && Array.isArray(answer.roots) ? (answer.roots as readonly Root[]) : []
  }

  /** Runs `effect` once, even if the handler is run again after a question. The result must be JSON. */
  once<T>(key: string, effect: () => T | Promise<T>): Promise<T> {
    return this.#asking.once(key, effect)
  }

  #ask(method: string, params: object | undefined, key: string | undefined): Promise<unknown> {
    // The check: the three callers above pass the params of their own method.
    return this.#asking.ask({ method, params } as Parameters<Asking['ask']>[0], key)
  }
}
