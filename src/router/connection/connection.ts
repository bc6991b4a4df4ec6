import { Client } from '../../client/client.ts'
import type { Connection } from '../../client/connection/connection.ts'
import type { Dial, ServerDescription } from '../../client/connection/negotiate.ts'
import { withMeta } from '../../client/connection/request-meta.ts'
import { Core } from '../../client/core.ts'
import type { ClientOptions } from '../../client/options.ts'
import type { Progress } from '../../client/requests/progress.ts'
import type { RequestOptions } from '../../client/requests/request-run.ts'
import type { Settings } from '../../client/settings.ts'
import { ChannelError, type Envelope } from '../../jsonrpc/channel.ts'
import { methodNotFound } from '../../jsonrpc/error.ts'
import type { CallOptions, Exchange } from '../../jsonrpc/handler.ts'
import type { Id, RpcRequest } from '../../jsonrpc/message.ts'
import type { ReplyHandler } from '../../jsonrpc/peer/pending.ts'
import { tasksExtension } from '../../mcp/extension.ts'
import { isServerRequest } from '../../mcp/methods.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { ClientCapabilities, Members, ProgressToken } from '../../mcp/types/base.ts'
import type { InputRequest } from '../../mcp/types/input.ts'
import { atLeast, type LogLevel } from '../../mcp/types/logging.ts'
import type { ChildProcess } from '../../transport/process/child.ts'
import { type Deferred, deferred } from '../../util/promises.ts'
import { type Deadlines, timed } from '../../util/time/deadline.ts'
import type { InFlightCall } from './in-flight-list.ts'
import {
  type AskableCall,
  RequestAttribution,
  type UnattributedRequest,
} from './request-attribution.ts'

/** What the router declares in its own requests to stateless servers: it follows tasks for its callers. */
const routerCapabilities: ClientCapabilities = { extensions: { [tasksExtension]: {} } }

/** What an upstream connection is opened with, and where its notifications go. */
export interface UpstreamConnectionHost {
  readonly dial: Dial
  readonly client: ClientOptions
  /** How long an ambiguous server request is held until it can be attributed; 0 rejects it at once. */
  readonly attributionTimeoutMs: number
  capabilities(revision: Revision): ClientCapabilities
  /** Called with every notification that belongs to no call. */
  onNotification(method: string, params: Members | undefined): void
}

/** One attempt to send a call: gets the reply, and has a timeout that can be extended and paused. */
export interface SendAttempt extends ReplyHandler {
  readonly isSettled: boolean
  onProgress(progress: Progress): void
  /** Stops the timeout until `resume` was called as often as `pause`. */
  pause(): void
  resume(): void
}

/** An attempt whose caller gets progress or server requests. */
interface WatchedAttempt {
  readonly attempt: SendAttempt
  readonly progressToken: ProgressToken | undefined
}

/**
 * A connection to an upstream server, shared by calls of several callers.
 *
 * Replies and notifications are delivered to the call they belong to. A server request that could belong
 * to more than one caller is held until one candidate is left and rejected after `attributionTimeoutMs`;
 * it is never delivered on a guess. The connection does not reconnect: once lost, it is replaced.
 */
export class UpstreamConnection {
  /** The process that was started for it. */
  child: ChildProcess | undefined
  readonly #core: Core
  #client: Client | undefined
  #logLevel: LogLevel | undefined
  #settingLogLevel: Promise<void> | undefined
  readonly #attribution: RequestAttribution
  readonly #watched = new Map<InFlightCall, WatchedAttempt>()
  readonly #lost: Deferred<Error | undefined> = deferred()

  constructor(host: UpstreamConnectionHost) {
    this.#core = new Core(
      host.dial,
      { ...host.client, reconnect: false },
      {
        capabilities: revision =>
          revision.features.identity === 'session'
            ? host.capabilities(revision)
            : routerCapabilities,
        onRequest: (request, exchange) => this.#onServerRequest(request, exchange),
        onNotification: (method, params, envelope) => {
          if (!this.#onNotification(method, params, envelope)) host.onNotification(method, params)
        },
        onLost: cause => {
          // While the connection is being opened, several may be tried and dropped.
          if (this.#client !== undefined) this.#lost.resolve(cause)
        },
        onLate: (id, result) => this.#attribution.onLate(id, result),
      },
    )
    const { attributionTimeoutMs } = host
    const { clock, deadlines } = this.#core.settings
    this.#attribution = new RequestAttribution({ clock, deadlines, attributionTimeoutMs })
  }

  /**
   * Connects and negotiates the protocol revision. Must be called once, before anything else. Rejects as
   * opening a client does. A server may send requests as soon as it is connected: those belong to `first`.
   */
  async open(first?: InFlightCall, signal?: AbortSignal): Promise<void> {
    if (first !== undefined) this.#attribution.begin(first)
    try {
      await this.#core.open(signal)
      this.#client = new Client(this.#core)
      if (!this.isOpen) this.#lost.resolve(undefined)
    } catch (error) {
      if (first !== undefined) this.#attribution.end(first)
      throw error
    }
  }

  /** Settles with the cause as soon as the connection is lost; releasing its resources may take longer. */
  get lost(): Promise<Error | undefined> {
    return this.#lost.promise
  }

  /** Settles when all resources are released: with the cause, or undefined if `close` was called. */
  get closed(): Promise<Error | undefined> {
    return this.#core.reconnecting.closed
  }

  /** The settings of its client. */
  get settings(): Settings {
    return this.#core.settings
  }

  /** The client for requests that the router makes itself. */
  get client(): Client {
    if (this.#client === undefined) throw new Error('the connection has not been opened')
    return this.#client
  }

  get server(): ServerDescription {
    return this.client.server
  }

  get isOpen(): boolean {
    return !this.#core.reconnecting.isClosed && this.#current.isOpen
  }

  /** Whether each request has a stream of its own, as over HTTP, and may fail alone. */
  get hasStreams(): boolean {
    return this.#current.hasStreams
  }

  /** The number of messages received so far, of any kind. */
  get received(): number {
    return this.#current.received
  }

  /** Calls in flight. */
  get inFlight(): number {
    return this.#attribution.size
  }

  /** Returns whether a call of this owner can join without making any server request ambiguous. */
  isOpenTo(owner: unknown): boolean {
    return this.#attribution.isOpenTo(owner, this.#current.hasStreams)
  }

  /**
   * Sends the request of a call and returns its id; undefined if it was refused at once. `attempt` gets
   * the reply, server requests of stateless servers included; an error that it gets is raw: pass it to
   * `failure`, not before the next microtask. Throws a ChannelError `'closed'` once the connection is lost.
   * A server of this process gets the `envelope` of the caller too.
   */
  start(
    attempt: SendAttempt,
    call: InFlightCall,
    method: string,
    params: object,
    sender: object | undefined,
    options: CallOptions,
    envelope?: Envelope,
  ): Id | undefined {
    const opened = this.#core.reconnecting.ready()
    if (opened instanceof Promise) throw new ChannelError('closed', 'the connection was lost')
    const { connection } = opened
    this.#attribution.begin(call)
    const isWatched = call.onProgress !== undefined || call.ask !== undefined
    const progressToken = isWatched ? this.#watch(attempt, call) : undefined
    const sent = withMeta(params, { progressToken, sender, isForwarded: true })
    const id = connection.start(attempt, method, sent, options, envelope)
    if (id !== undefined && connection.hasStreams && !attempt.isSettled) {
      this.#attribution.bind(id, call)
      if (progressToken !== undefined) this.#core.progress.bind(progressToken, id)
    }
    return id
  }

  /**
   * Sends a request about a call that was made before, such as the poll of its task. A server of this
   * process gets the same `envelope` as with the call. Rejects as a request of the client does.
   */
  async requestFor(
    envelope: Envelope | undefined,
    method: string,
    params: object,
    options: RequestOptions = {},
  ): Promise<unknown> {
    const opened = this.#core.reconnecting.ready()
    if (envelope === undefined || opened instanceof Promise) {
      return this.client.request(method, params, options)
    }
    const { connection } = opened
    const sent = this.#core.requests.withRequestMeta(opened, params)
    let id: Id | undefined
    try {
      return await new Promise((resolve, reject) => {
        id = connection.start({ resolve, reject }, method, sent, options, envelope)
      })
    } catch (error) {
      throw connection.failure(error, method, id, options)
    }
  }

  /** Must be called when an attempt has settled: with the result, unless it failed. */
  end(call: InFlightCall, id?: Id, result?: unknown): void {
    this.#attribution.end(call, id, result)
    if (this.#watched.size > 0) this.#unwatch(call)
  }

  /** Must be called, before `end`, for an attempt that was given up. */
  abandon(call: InFlightCall, id: Id | InFlightCall = call): void {
    this.#attribution.abandon(call, id, this.#current)
  }

  /** Gives up a request: rejects its attempt with the reason and cancels it on the server. */
  cancel(id: Id, reason: unknown): void {
    this.#current.abandon(id, reason)
  }

  /** Restarts the timeout of a request; with 0 it has none. */
  restartTimeout(id: Id, timeoutMs: number): void {
    this.#current.restartTimeout(id, timeoutMs)
  }

  /**
   * Returns what a failed attempt is to be rejected with: `'outcome-unknown'` where the connection was
   * lost after the request was sent. Cancels the request on the server if it timed out, or was given up
   * by `signal`.
   */
  failure(error: unknown, method: string, id: Id | undefined, signal?: AbortSignal): unknown {
    return this.#current.failure(error, method, id, { signal })
  }

  /** Keeps a call that was answered, because a task continues for it, which server requests may name. */
  keep(call: InFlightCall, taskId?: string): void {
    this.#attribution.keep(call, taskId)
  }

  /** Undoes `keep`; with the result, unless the task failed. */
  release(call: InFlightCall, taskId?: string, result?: unknown): void {
    this.#attribution.release(call, taskId, result)
  }

  /**
   * Asks a session-based server for log messages of this level, unless it sends as many already; which
   * caller gets which message is decided here. Settles when the level is set; never rejects.
   */
  setLogLevel(level: LogLevel | undefined): Promise<void> | undefined {
    if (level === undefined || this.server.capabilities.logging === undefined) return undefined
    if (this.#logLevel !== undefined && atLeast(level, this.#logLevel)) return this.#settingLogLevel
    if (this.server.revision.features.logLevel === 'request') return undefined
    this.#logLevel = level
    this.#settingLogLevel = this.client.setLogLevel(level).then(
      () => {},
      () => {},
    )
    return this.#settingLogLevel
  }

  /** Cuts the connection as if it had been lost: calls in flight may have been carried out. */
  lose(cause: Error): void {
    this.#current.lose(cause)
  }

  /** Closes the connection; calls in flight reject. Never rejects. */
  async close(): Promise<void> {
    await this.#client?.close()
  }

  /** Closes the connection when no call is in flight on it any more. Never rejects. */
  async closeWhenUnused(deadlines: Deadlines): Promise<void> {
    while (this.inFlight > 0 && this.isOpen) {
      await new Promise<void>(resolve => deadlines.start(timed(resolve), 100))
    }
    await this.close()
  }

  /**
   * Closes a lost connection; never rejects. One that is retired closes by itself, when the calls in flight
   * on it have been answered.
   */
  async closeUnlessRetired(): Promise<void> {
    if (!this.#current.isRetired) await this.close()
  }

  get #current(): Connection {
    return this.#core.reconnecting.latest.connection
  }

  #watch(attempt: SendAttempt, call: InFlightCall): ProgressToken | undefined {
    const progressToken =
      call.onProgress === undefined
        ? undefined
        : this.#core.progress.watch(progress => attempt.onProgress(progress))
    this.#watched.set(call, { attempt, progressToken })
    return progressToken
  }

  #unwatch(call: InFlightCall): void {
    const token = this.#watched.get(call)?.progressToken
    if (token !== undefined) this.#core.progress.unwatch(token)
    this.#watched.delete(call)
  }

  /** Delivers a notification to the call it belongs to; returns false if it belongs to none. */
  #onNotification(method: string, params: Members | undefined, envelope: Envelope): boolean {
    switch (method) {
      case 'notifications/progress':
      case 'notifications/cancelled':
        return true
      case 'notifications/message':
        this.#attribution.callFor(envelope.about)?.onLog?.(params ?? {})
        return true
      default:
        return false
    }
  }

  /** Answers a server request by sending it to the caller of the call that it belongs to. */
  async #onServerRequest(
    { method, params }: RpcRequest,
    { signal, envelope }: Exchange,
  ): Promise<unknown> {
    if (!isServerRequest(method)) throw methodNotFound(method)
    const call = await this.#attribute({ method, params, about: envelope.about, signal })
    const attempt = this.#watched.get(call)?.attempt
    // While the caller handles the request, the timeout of the server is paused.
    attempt?.pause()
    try {
      // The check: the method is that of a server request; params are checked where the caller is asked.
      return await call.ask({ method, params } as InputRequest, signal)
    } finally {
      attempt?.resume()
    }
  }

  /** Attributes a server request. While it is ambiguous, the server waits for the router: no call times out. */
  #attribute(request: UnattributedRequest): AskableCall | Promise<AskableCall> {
    const call = this.#attribution.attribute(request)
    if (!(call instanceof Promise)) return call
    const paused = Array.from(this.#watched.values(), ({ attempt }) => attempt)
    for (const attempt of paused) attempt.pause()
    return call.finally(() => {
      for (const attempt of paused) attempt.resume()
    })
  }
}
