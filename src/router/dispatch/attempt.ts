import { isTimeout } from '../../client/errors.ts'
import type { Progress } from '../../client/requests/progress.ts'
import { ChannelError } from '../../jsonrpc/channel.ts'
import type { Id } from '../../jsonrpc/message.ts'
import type { ServerSession } from '../../server/core/session.ts'
import type { Clock } from '../../util/time/clock.ts'
import type { SendAttempt, UpstreamConnection } from '../connection/connection.ts'
import { publishAttempt, publishWait } from '../events.ts'
import { failureOf } from '../forward/errors.ts'
import { withTimeoutMs } from '../forward/params.ts'
import type { UpstreamCall, UpstreamResult } from '../forward/upstream-call.ts'
import { instanceFaultOf } from '../policy/fault.ts'
import type { Instance } from '../upstream/instance.ts'

/** What attempts to send calls to one server need. */
export interface AttemptHost {
  readonly clock: Clock
  /** The name of the server. */
  readonly name: string
  /** Returns when the caller stops waiting, if that is before the timeout that the server has. */
  deadlineOf(call: UpstreamCall): number | undefined
  /** Chooses an instance for a call, other than those that were tried. */
  choose(call: UpstreamCall, tried: ReadonlySet<Instance> | undefined): Instance | undefined
  /**
   * Waits for an instance that is being started or is on trial, at most until `deadline`. Rejects if there is
   * none. The call began to wait at `begunAt`, in this attempt or in an earlier one.
   */
  whenAvailable(
    call: UpstreamCall,
    begunAt: number,
    deadline: number | undefined,
  ): Promise<Instance>
  /** Keeps a call that was refused, or lost. */
  undelivered(call: UpstreamCall, error: unknown): void
  /** Remembers the instance that holds the session of a caller. */
  bindSession(session: ServerSession | undefined, instance: Instance): void
  /** Returns whether to start another attempt; `tried` are the instances of the earlier ones. */
  mayRetry(
    call: UpstreamCall,
    error: unknown,
    attempt: number,
    tried: ReadonlySet<Instance>,
  ): boolean
}

/**
 * One attempt to send a call to an instance. If it fails and the call may be repeated, it starts the next
 * attempt; otherwise it settles the call.
 *
 * It gets the reply in the stack of the message that brings it, and there is one promise for all attempts
 * of a call, because a call costs little more than the promises that it takes. The attempt itself is the
 * result that the promise resolves to.
 */
export class Attempt implements SendAttempt, UpstreamResult {
  readonly acceptsRaw: boolean
  result: unknown
  instance: Instance | undefined
  connection: UpstreamConnection | undefined
  isSettled = false
  readonly #host: AttemptHost
  readonly #call: UpstreamCall
  readonly #resolve: (result: UpstreamResult) => void
  readonly #reject: (error: unknown) => void
  readonly #number: number
  /** The instances that failed in earlier attempts. */
  readonly #tried: ReadonlySet<Instance> | undefined
  /** When the caller stops waiting, if that is before the timeout of each attempt. */
  readonly #deadline: number | undefined
  /** Since when the call waits for an instance, in all attempts together; undefined before it waits. */
  #waitsSince: number | undefined
  /** Since when this attempt waits for an instance; undefined if it does not. */
  #waitStartedAt: number | undefined
  #ticket = 0
  #startedAt = 0
  #id: Id | undefined
  #timeoutMs = 0
  #pauses = 0

  constructor(
    host: AttemptHost,
    call: UpstreamCall,
    resolve: (result: UpstreamResult) => void,
    reject: (error: unknown) => void,
    previous?: Attempt,
    tried?: ReadonlySet<Instance>,
  ) {
    this.#host = host
    this.#call = call
    this.#resolve = resolve
    this.#reject = reject
    this.#number = previous === undefined ? 1 : previous.#number + 1
    this.#tried = tried
    this.#deadline = previous === undefined ? host.deadlineOf(call) : previous.#deadline
    this.#waitsSince = previous === undefined ? undefined : previous.#waitsSince
    this.acceptsRaw = call.acceptsRaw
  }

  /** Must be called once. */
  start(): void {
    const instance = this.#host.choose(this.#call, this.#tried)
    if (instance !== undefined) this.#startAt(instance)
    else this.#wait()
  }

  #wait(): void {
    const now = this.#host.clock.now()
    this.#waitsSince ??= now
    this.#waitStartedAt ??= now
    this.#host.whenAvailable(this.#call, this.#waitsSince, this.#deadline).then(
      found => this.#startAt(found),
      error => this.#refuse(error),
    )
  }

  #startAt(instance: Instance): void {
    const { load, breaker, key } = instance
    const call = this.#call
    this.#ticket = breaker?.begin() ?? 1
    if (this.#ticket === 0) {
      // Another call that waited for the instance has become its trial.
      this.#wait()
      return
    }
    load.begin()
    if (this.#waitStartedAt !== undefined) {
      publishWait(call.span, 'instance', this.#waitStartedAt, this.#host.clock.now())
    }
    if (call.span !== undefined) {
      call.span.instance = key
      call.span.retries = this.#number - 1
    }
    this.instance = instance
    this.#startedAt = this.#host.clock.now()
    try {
      const connection = instance.connectionFor(call)
      const isReady = !(connection instanceof Promise)
      const settingLogLevel = isReady ? connection.setLogLevel(call.logLevel) : undefined
      if (isReady && settingLogLevel === undefined) this.#sendOn(connection)
      else void this.#sendLater(connection)
    } catch (error) {
      this.#fail(error)
    }
  }

  async #sendLater(opening: UpstreamConnection | Promise<UpstreamConnection>): Promise<void> {
    try {
      const connection = await opening
      await connection.setLogLevel(this.#call.logLevel)
      this.connection = connection
      this.#call.abort.signal.throwIfAborted()
      this.#sendOn(connection)
    } catch (error) {
      this.#fail(error)
    }
  }

  #sendOn(connection: UpstreamConnection): void {
    const call = this.#call
    const { method, abort } = call
    this.connection = connection
    this.#timeoutMs = this.#remainingMs()
    const timeoutMs = this.#timeoutMs
    // Tells the next router on the way, if there is one, how long the caller still waits.
    const params =
      this.#deadline === undefined ? call.params : withTimeoutMs(call.params, timeoutMs)
    const { revision } = connection.server
    const sender = revision.features.identity === 'request' ? call.sender(revision) : undefined
    const signal = abort.onAbort === undefined ? abort.signal : undefined
    const envelope = this.instance?.target.isLocal ? call.envelope : undefined
    const options = { timeoutMs, signal }
    const id = connection.start(this, call, method, params, sender, options, envelope)
    if (id === undefined || this.isSettled) return
    this.#id = id
    if (this.#pauses > 0) connection.restartTimeout(id, 0)
    abort.onAbort?.(reason => {
      if (!this.isSettled) connection.abandon(call, id)
      connection.cancel(id, reason)
    })
  }

  resolve(result: unknown): void {
    const { instance, connection } = this
    if (instance === undefined || connection === undefined) return
    this.isSettled = true
    connection.end(this.#call, this.#id, result)
    const now = this.#host.clock.now()
    instance.load.succeeded(now - this.#startedAt, now)
    instance.breaker?.succeeded(this.#ticket)
    if (connection.server.revision.features.sessions) {
      this.#host.bindSession(this.#call.session, instance)
    }
    this.result = result
    if (this.#call.span !== undefined) this.#publish(instance, now)
    this.#resolve(this)
  }

  reject(error: unknown): void {
    // What the error means is known only after the message that brought it was processed.
    queueMicrotask(() => {
      const { connection } = this
      const { method, abort } = this.#call
      const signal = abort.onAbort === undefined ? abort.signal : undefined
      const isGivenUp = isTimeout(error) || (signal?.aborted && signal.reason === error)
      if (this.#id !== undefined && isGivenUp) connection?.abandon(this.#call, this.#id)
      this.#fail(connection?.failure(error, method, this.#id, signal) ?? error)
    })
  }

  /** Counts the failure at the instance, and starts the next attempt or rejects the call. */
  #fail(error: unknown): void {
    const { instance } = this
    if (instance === undefined) return
    this.isSettled = true
    this.connection?.end(this.#call, this.#id)
    this.#count(instance, error)
    if (this.#call.span !== undefined) this.#publish(instance, this.#host.clock.now(), error)
    const tried = new Set(this.#tried).add(instance)
    if (this.#isTooLate(error) || !this.#host.mayRetry(this.#call, error, this.#number, tried)) {
      const failure = failureOf(this.#host.name, error)
      // An error of the server is a delivered call, and so is one that its caller gave up.
      if (failure === error) this.#reject(error)
      else this.#refuse(failure)
      return
    }
    new Attempt(this.#host, this.#call, this.#resolve, this.#reject, this, tried).start()
  }

  #publish(instance: Instance, nowMs: number, error?: unknown): void {
    const event = {
      attempt: this.#number,
      server: this.#host.name,
      instance: instance.key,
      startedMs: this.#startedAt,
    }
    publishAttempt(this.#call.span, event, nowMs, error)
  }

  /** Rejects the call with an error of the router. */
  #refuse(error: unknown): void {
    if (!this.#call.abort.signal.aborted) this.#host.undelivered(this.#call, error)
    this.#reject(error)
  }

  onProgress(progress: Progress): void {
    this.#extend()
    this.#call.onProgress?.(progress)
  }

  pause(): void {
    if (this.isSettled) return
    this.#pauses++
    if (this.#id !== undefined) this.connection?.restartTimeout(this.#id, 0)
  }

  resume(): void {
    if (this.#pauses === 0) return
    this.#pauses--
    this.#extend()
  }

  /** Restarts the timeout, unless it is paused. */
  #extend(): void {
    if (this.isSettled || this.#pauses > 0 || this.#id === undefined) return
    this.connection?.restartTimeout(this.#id, this.#timeoutMs)
  }

  #count(instance: Instance, error: unknown): void {
    const { load, breaker } = instance
    const isGivenUp = this.#call.abort.signal.aborted || this.#isTooLate(error)
    const fault = isGivenUp ? undefined : instanceFaultOf(error)
    const tookMs = this.#host.clock.now() - this.#startedAt
    if (fault === 'failure') {
      load.failed(tookMs)
      breaker?.failed(this.#ticket)
    } else if (fault === 'none') {
      load.succeeded(tookMs)
      breaker?.succeeded(this.#ticket)
    } else {
      load.abandoned()
      breaker?.abandoned(this.#ticket)
    }
    if (fault !== undefined && fault !== 'none') instance.onFault(fault, error)
  }

  /** How long the server has for this attempt. Throws if the caller has stopped waiting. */
  #remainingMs(): number {
    if (this.#deadline === undefined) return this.#call.timeoutMs
    const remainingMs = this.#deadline - this.#host.clock.now()
    if (remainingMs > 0) return remainingMs
    throw new ChannelError('timeout', 'the caller has stopped waiting')
  }

  /** Whether the caller has stopped waiting, which says nothing about the server. */
  #isTooLate(error: unknown): boolean {
    return this.#deadline !== undefined && isTimeout(error)
  }
}
