import { ChannelError } from '../../jsonrpc/channel.ts'
import { tasksExtension } from '../../mcp/extension.ts'
import { methodRow } from '../../mcp/methods.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { LogLevel } from '../../mcp/types/base.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { abortable } from '../../util/promises.ts'
import { sleep } from '../../util/time/sleep.ts'
import type { ResponseCache, Ticket } from '../cache.ts'
import type { ConnectionCallOptions, StartedCall } from '../connection/connection.ts'
import type { Negotiated } from '../connection/negotiate.ts'
import type { ReconnectingConnection } from '../connection/reconnect.ts'
import { senderMeta, withMeta } from '../connection/request-meta.ts'
import { isTimeout, isUnsent } from '../errors.ts'
import type { ServerRequestHandlers } from '../server-requests/handlers.ts'
import type { ReconnectPolicy, Settings } from '../settings.ts'
import { checkDeclared } from '../strict.ts'
import { CallTimeout } from './call-timeout.ts'
import { DirectCall, type DirectCallHost } from './direct-call.ts'
import {
  answerInputRequests,
  type InputRetry,
  readInputRequired,
  resultTypeOf,
} from './input-rounds.ts'
import type { ProgressHandlers } from './progress.ts'
import { type RequestOptions, RequestRun } from './request-run.ts'
import { timeoutOf } from './timeout-error.ts'

/** The parts of a client that requests need. */
export interface RequestParts {
  readonly settings: Settings
  readonly reconnecting: () => ReconnectingConnection
  readonly handlers: ServerRequestHandlers
  readonly cache: ResponseCache
  readonly progress: ProgressHandlers
  /** The log level that stateless requests carry. */
  readonly logLevel: () => LogLevel | undefined
  /** Drops what was cached for another identity than the current one; undefined without credentials. */
  readonly checkIdentity?: () => void
}

/**
 * Sends requests and completes each of them: over lost connections, through rounds of input requests, and
 * from the cache.
 */
export class Requests {
  readonly #parts: RequestParts
  /** The timeouts that are paused while the server, or a request, waits for this client. */
  readonly #timeouts = new Set<CallTimeout>()
  #pauses = 0
  /** The last result of `#sender`, which is reused while nothing changes. */
  #lastSender: { revision: Revision; logLevel: LogLevel | undefined; meta: object } | undefined

  constructor(parts: RequestParts) {
    this.#parts = parts
  }

  /**
   * Sends a request and settles with its final result. Rejects with an RpcError if the server responds with
   * an error, with a ChannelError if there can be no response, and with the signal's reason.
   */
  request(method: string, params?: object, options?: RequestOptions): Promise<unknown> {
    return this.requestAs(asIs, method, params, options)
  }

  /**
   * Sends a request and settles with what `read` returns for the final result. `read` may be called inside
   * the delivery of the response, so it must return a promise before it runs user code.
   */
  requestAs<T>(
    read: (result: unknown) => T | Promise<T>,
    method: string,
    params?: object,
    options: RequestOptions = {},
  ): Promise<T> {
    const run = new RequestRun(method, options, this.#parts.settings.clock.now())
    this.#parts.checkIdentity?.()
    try {
      const opened = this.#directConnection(run)
      if (opened === undefined) return this.#complete(run, params).then(read)
      const sent = this.withRequestMeta(opened, params)
      // A single promise: each further one costs a tenth of a call to a server in this process.
      return new Promise(settle => {
        const call = new DirectCall(this.#directCallHost, run, opened, params, read, settle)
        call.id = opened.connection.start(call, method, sent, options)
      })
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Sends a request that its caller manages: it is never retried and never served from the cache. */
  begin(
    opened: Negotiated,
    method: string,
    params: object,
    options: ConnectionCallOptions,
  ): StartedCall {
    const call = opened.connection.begin(method, this.withRequestMeta(opened, params), options)
    call.reply.then(undefined, error => {
      if (!isUnsent(error) || this.#parts.reconnecting().isClosed) return
      // Where each request has a stream of its own, the others may go on.
      if (!opened.connection.hasStreams) opened.connection.lose(error)
    })
    return call
  }

  /** Returns the params with the `_meta` that the revision requires in each request. */
  withRequestMeta({ server }: Negotiated, params: object | undefined): object | undefined {
    return withMeta(params, { sender: this.#sender(server.revision) })
  }

  /** Handles a server request while the timeouts of all calls are paused, since the server waits for this client. */
  async withTimeoutsPaused<T>(handle: () => Promise<T>): Promise<T> {
    this.pauseTimeouts(true)
    try {
      return await handle()
    } finally {
      this.pauseTimeouts(false)
    }
  }

  /** Pauses the timeouts of all calls, or ends one such pause. Pauses may overlap. */
  pauseTimeouts(isPaused: boolean): void {
    this.#pauses += isPaused ? 1 : -1
    for (const timeout of this.#timeouts) {
      if (isPaused) timeout.pause()
      else timeout.resume()
    }
  }

  /**
   * Returns the connection if the request can take the fast path, as nearly every call can: it is sent at
   * once, and there is nothing to do but wait for its response.
   */
  #directConnection(run: RequestRun): Negotiated | undefined {
    const opened = this.#parts.reconnecting().ready()
    if (opened instanceof Promise || run.options.onProgress !== undefined) return undefined
    if (this.#parts.settings.strict) checkDeclared(opened.server, run.method)
    const row = methodRow(run.method)
    const { cacheHints, serverRequests } = opened.server.revision.features
    if (cacheHints && row?.cacheable) return undefined
    // While the server calls this client, the timeout of the request is paused.
    const mayPause = serverRequests === 'call' && row?.mayRequestInput
    return mayPause && this.#parts.handlers.isSlow ? undefined : opened
  }

  /** Continues direct calls that did not complete with their first response. */
  readonly #directCallHost: DirectCallHost = {
    continue: async ({ run, opened, params }, result) => {
      // User code must not run inside the delivery of a message.
      await undefined
      return this.#complete(run, params, { result, revision: opened.server.revision })
    },
    recover: async ({ run, opened, params, id }, error) => {
      // A call may fail while its connection is closing; whether it was lost is known only afterwards.
      await undefined
      const why = opened.connection.failure(error, run.method, id, run.options)
      if (isTimeout(why)) throw timeoutOf(run, params, why, this.#timeoutMs(run))
      run.retryOrThrow(opened, params, why, this.#retryRules())
      return this.#complete(run, params)
    },
  }

  /** Completes a request, from its first result if there is one, and stops its timeout. */
  async #complete(run: RequestRun, params: object | undefined, first?: Received): Promise<unknown> {
    try {
      return await this.#rounds(run, params, first)
    } catch (error) {
      throw isTimeout(error) ? timeoutOf(run, params, error) : error
    } finally {
      if (run.timeout !== undefined) {
        run.timeout.end()
        this.#timeouts.delete(run.timeout)
      }
    }
  }

  async #rounds(run: RequestRun, params: object | undefined, first?: Received): Promise<unknown> {
    let received = first ?? (await this.#fetch(run, params, false))
    for (let round = 0; ; round++) {
      const { result, revision } = received
      if (!revision.features.resultTypes) return result
      const type = resultTypeOf(result, run.method, this.#allowsTasks(revision))
      if (type !== 'input_required') return result
      if (round >= limits.inputRounds.default) {
        const what = `${run.method}: the server still requires input after ${round} rounds`
        throw new ChannelError('too-many', what)
      }
      const retry = await this.#answerInput(run, readInputRequired(result, run.method), revision)
      received = await this.#fetch(run, { ...params, ...retry }, true)
    }
  }

  /** Handles the input requests and returns the params to add to the next attempt. */
  async #answerInput(
    run: RequestRun,
    { inputRequests, requestState, server }: ReturnType<typeof readInputRequired>,
    revision: Revision,
  ): Promise<InputRetry> {
    const { handlers, reconnecting } = this.#parts
    run.timeout ??= this.#startTimeout(run)
    const { timeout } = run
    const signals = [reconnecting().gone, timeout.signal, run.options.signal]
    const signal = AbortSignal.any(signals.filter(one => one !== undefined))
    timeout.pause()
    try {
      const responses = answerInputRequests(run.method, inputRequests, {
        handlers,
        revision,
        signal,
        server,
      })
      const inputResponses = await abortable(responses, signal)
      return {
        ...(inputRequests !== undefined && { inputResponses }),
        ...(requestState !== undefined && { requestState }),
      }
    } finally {
      timeout.resume()
    }
  }

  /** Gets one result, from the cache or from the server, over as many connections as it takes. */
  async #fetch(run: RequestRun, params: object | undefined, isRetry: boolean): Promise<Received> {
    for (;;) {
      if (run.delayMs > 0) await this.#delay(run)
      const opened = await this.#ready(run)
      const { revision } = opened.server
      if (this.#parts.settings.strict) checkDeclared(opened.server, run.method)
      const ticket = isRetry ? undefined : this.#ticket(run, params, revision)
      const cached = ticket === undefined || run.options.fresh ? undefined : this.#cached(ticket)
      if (cached !== undefined) return { result: cached, revision }
      try {
        const result = await this.#send(run, opened, params)
        // An input_required result is not final: its caching hints, if any, are ignored.
        if (ticket !== undefined && isRecord(result) && result.resultType !== 'input_required') {
          this.#parts.checkIdentity?.()
          this.#parts.cache.put(ticket, params, result)
        }
        return { result, revision }
      } catch (error) {
        run.retryOrThrow(opened, params, error, this.#retryRules())
      }
    }
  }

  #send(run: RequestRun, opened: Negotiated, params: object | undefined): Promise<unknown> {
    const { connection, server } = opened
    const { settings, progress } = this.#parts
    const { onProgress } = run.options
    const progressToken =
      onProgress === undefined
        ? undefined
        : progress.watch(step => {
            run.timeout?.extend()
            onProgress(step)
          })
    const sent = withMeta(params, { progressToken, sender: this.#sender(server.revision) })
    const { timeout } = run
    const { signal, timeoutMs = settings.timeoutMs } = run.options
    if (timeout === undefined) return connection.call(run.method, sent, { signal, timeoutMs })
    // The peer drops its own entry in the end, should the response to an abandoned request never arrive.
    const { maxTotalMs = settings.totalMs } = run.options
    const lastMs = maxTotalMs > 0 ? Math.max(maxTotalMs, timeoutMs) : 0
    const { id, reply, giveUp } = connection.begin(run.method, sent, {
      signal,
      timeoutMs: lastMs,
    })
    const result = timeout.wait(reply, giveUp)
    if (progressToken === undefined) return result
    progress.bind(progressToken, id)
    return result.finally(() => progress.unwatch(progressToken))
  }

  /**
   * Returns the client metadata that each request carries; the same object while nothing changes.
   * Undefined where `initialize` has sent it.
   */
  #sender(revision: Revision): object | undefined {
    if (revision.features.identity === 'session') return undefined
    const { settings, handlers } = this.#parts
    const logLevel = this.#parts.logLevel()
    if (this.#lastSender?.revision !== revision || this.#lastSender.logLevel !== logLevel) {
      const capabilities = handlers.capabilities(revision)
      const meta = senderMeta({ revision, capabilities, info: settings.info, logLevel })
      this.#lastSender = { revision, logLevel, meta }
    }
    return this.#lastSender.meta
  }

  /** Whether this client has declared that the server may respond with tasks. */
  #allowsTasks(revision: Revision): boolean {
    const { extensions } = this.#parts.handlers.capabilities(revision)
    return extensions?.[tasksExtension] !== undefined
  }

  /** Returns the connection, or waits for it within the timeout of the request. */
  #ready(run: RequestRun): Negotiated | Promise<Negotiated> {
    run.timeout ??= this.#startTimeout(run)
    const opened = this.#parts.reconnecting().ready()
    if (!(opened instanceof Promise)) return opened
    return run.timeout.wait(abortable(opened, run.options.signal))
  }

  #retryRules(): { isClientClosed: boolean; reconnect: ReconnectPolicy } {
    const isClientClosed = this.#parts.reconnecting().isClosed
    return { isClientClosed, reconnect: this.#parts.settings.reconnect }
  }

  /** Waits before a request is sent again, within its timeout. */
  async #delay(run: RequestRun): Promise<void> {
    run.timeout ??= this.#startTimeout(run)
    const { gone } = this.#parts.reconnecting()
    const { signal = gone } = run.options
    const pause = sleep(run.delayMs, this.#parts.settings.clock)
    run.delayMs = 0
    try {
      await run.timeout.wait(abortable(pause.done, AbortSignal.any([gone, signal])))
    } finally {
      pause.wake()
    }
  }

  #ticket(run: RequestRun, params: object | undefined, revision: Revision): Ticket | undefined {
    if (!revision.features.cacheHints || !methodRow(run.method)?.cacheable) return undefined
    return this.#parts.cache.ticket(run.method, params)
  }

  #cached(ticket: Ticket): unknown {
    return this.#parts.cache.get(ticket)
  }

  #timeoutMs({ options }: RequestRun): number {
    return options.timeoutMs ?? this.#parts.settings.timeoutMs
  }

  #startTimeout({ method, options, startedAt }: RequestRun): CallTimeout {
    const { settings } = this.#parts
    const elapsedMs = settings.clock.now() - startedAt
    const timeout = new CallTimeout({
      what: method,
      deadlines: settings.deadlines,
      // A request that has already waited on the fast path must not wait the whole time once more.
      elapsedMs,
      timeoutMs: options.timeoutMs ?? settings.timeoutMs,
      totalMs: options.maxTotalMs ?? settings.totalMs,
    })
    this.#timeouts.add(timeout)
    for (let open = this.#pauses; open > 0; open--) timeout.pause()
    return timeout
  }
}

function asIs(result: unknown): unknown {
  return result
}

interface Received {
  readonly result: unknown
  readonly revision: Revision
}
