import { ChannelError } from '../../jsonrpc/channel.ts'
import { outsideTraces } from '../../mcp/trace-context.ts'
import { isUnstartable } from '../../transport/process/spawn-failure.ts'
import { isShortage, rootCause } from '../../util/error-cause.ts'
import type { Clock } from '../../util/time/clock.ts'
import type { Deadlines } from '../../util/time/deadline.ts'
import { type Sleep, sleep } from '../../util/time/sleep.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import type { UpstreamOptions } from '../options.ts'
import { isRefusedCredentials, retryAfterMsOf } from '../policy/fault.ts'
import type { LoadCounts } from '../policy/load-stats.ts'
import { RestartBudget } from '../policy/restart-budget.ts'
import { failureSummary, failureText } from './failure-text.ts'
import { HealthCheck } from './health-check.ts'

/**
 * The state of an instance: being connected, connected, waiting to be restarted, given up until
 * `retry()`, or stopped for good.
 */
export type InstanceState = 'idle' | 'starting' | 'ready' | 'waiting' | 'quarantined' | 'stopped'

/** What the lifecycle of an instance needs, and what it reports. */
export interface LifecycleHost {
  readonly clock: Clock
  readonly deadlines: Deadlines
  /** Opens the first connection. */
  open(): Promise<UpstreamConnection>
  /** Prepares a new connection for calls. Settles when it can take them; never rejects. */
  prepare(connection: UpstreamConnection): Promise<void>
  /** The numbers of calls that the instance was given and has answered. */
  counts(): Pick<LoadCounts, 'begun' | 'succeeded'>
  /** Whether no other instance of the server takes calls. */
  isAlone(): boolean
  /** The instance is connected, for the first time or after a restart. */
  onReady(): void
  /** The instance was lost, or could not be connected; `isNewReason` unless for the same reason as before. */
  onDown(cause: Error | undefined, isNewReason: boolean): void
  /** The instance is restarted after `delayMs`. Called once for a shortage of this machine. */
  onRestart(attempt: number, delayMs: number): void
  onQuarantined(reason: string): void
  /** The number of messages that the instance has sent so far. */
  received(): number
  /** The instance has missed a health check, for the first time in a row. */
  onMissed(): void
  /** The instance answers health checks again. */
  onRecovered(): void
}

/** The reason of an instance whose options say that it is not restarted. */
export const restartsDisabled = 'it stopped, and restarts are disabled'

/** Connects an instance, checks its health, and restarts it when it is lost, within its restart budget. */
export class InstanceLifecycle {
  readonly #host: LifecycleHost
  #options: UpstreamOptions
  #budget: RestartBudget | undefined
  #state: InstanceState = 'idle'
  #reason: string | undefined
  #summary: string | undefined
  #first: UpstreamConnection | undefined
  /** Lost connections that have not closed yet: calls in flight on them may still be answered. */
  readonly #lost = new Set<UpstreamConnection>()
  #restarts = 0
  /** The calls before the instance was last started. */
  #before: ReturnType<LifecycleHost['counts']> = { begun: 0, succeeded: 0 }
  /** Attempts since the instance was last ready. */
  #attempts = 0
  /** Why the latest attempt failed, or the connection was lost. */
  #cause: Error | undefined
  /** Ends the use of the first connection, while there is one. */
  #leave: ((cause: Error) => void) | undefined
  /** The wait before the next attempt. */
  #backoff: Sleep | undefined
  #running: Promise<void> | undefined
  #health: HealthCheck | undefined
  /** Whether the latest attempt failed in a way that further attempts cannot change. */
  #isUnstartable = false

  constructor(options: UpstreamOptions, host: LifecycleHost) {
    this.#options = options
    this.#host = host
    this.#budget = this.#makeBudget()
  }

  get state(): InstanceState {
    return this.#state
  }

  /** Why the instance is not ready, in one line, for the operator. */
  get reason(): string | undefined {
    return this.#reason
  }

  /** Why the instance is not ready, in words that anyone may read. */
  get summary(): string | undefined {
    return this.#summary
  }

  get restarts(): number {
    return this.#restarts
  }

  /** Milliseconds until the next restart; undefined if none is scheduled. */
  get retryInMs(): number | undefined {
    return this.#backoff?.leftMs
  }

  /** Whether the options allow restarts at all. */
  get mayRestart(): boolean {
    return this.#budget !== undefined
  }

  /** Health checks missed in a row. */
  get misses(): number {
    return this.#state === 'ready' ? (this.#health?.misses ?? 0) : 0
  }

  /** The first connection, open or not; undefined while there is none. */
  get first(): UpstreamConnection | undefined {
    return this.#first
  }

  /** Applies changed options: restarts and health checks. */
  adjust(options: UpstreamOptions): void {
    const before = this.#options
    this.#options = options
    if (differs(before.restart, options.restart)) this.#budget = this.#makeBudget()
    if (differs(before.health, options.health) && this.#state === 'ready') this.#checkHealth()
  }

  /** Starts to connect the instance, and to keep it connected. */
  start(): void {
    this.#running ??= outsideTraces(() => this.#run())
  }

  /** Restarts a quarantined instance, or one that waits for its restart, at once. */
  retry(): void {
    if (this.#state === 'quarantined') {
      this.#budget?.release()
      this.#running = outsideTraces(() => this.#run())
    } else this.#backoff?.wake()
  }

  /**
   * Must be called when the server could not be reached although its connection is open, as over HTTP:
   * another connection is opened, with back-off, and calls in flight on this one may end.
   */
  leave(cause: Error): void {
    if (this.#state !== 'ready') return
    // At once: calls that find the server away wait for it, and must not be sent there again.
    this.#state = 'waiting'
    this.#leave?.(cause)
  }

  /** Makes a restart that is further away than `withinMs` happen then. */
  hurry(withinMs: number): void {
    const backoff = this.#backoff
    if (backoff === undefined || backoff.leftMs <= withinMs) return
    this.#host.clock.start(() => backoff.wake(), withinMs).unref()
  }

  /** Stops the instance for good. Settles when its connection is closed; never rejects. */
  async stop(cause: Error): Promise<void> {
    this.#state = 'stopped'
    this.#backoff?.wake()
    this.#health?.stop()
    this.#first?.lose(cause)
    const released = Array.from(this.#lost, connection => connection.close())
    await Promise.all([this.#first?.close(), ...released, this.#running])
  }

  async #run(): Promise<void> {
    const { configError } = this.#options
    if (configError !== undefined) {
      // It names keys and variables of the file, and never their values.
      return this.#quarantine(configError, `its configuration is invalid: ${configError}`)
    }
    for (let attempt = 0; this.#state !== 'stopped'; attempt++) {
      if (attempt > 0 && !(await this.#mayContinue())) return
      await this.#connectOnce()
    }
  }

  /** Connects, and waits until the connection is lost. Reports at once that either failed. */
  async #connectOnce(): Promise<void> {
    this.#state = 'starting'
    let connection: UpstreamConnection
    try {
      connection = await this.#host.open()
    } catch (error) {
      this.#isUnstartable = isUnstartable(error)
      this.#down(error instanceof Error ? error : new Error(String(error)))
      return
    }
    this.#isUnstartable = false
    if (this.#isStopped()) {
      await connection.close()
      return
    }
    this.#first = connection
    this.#budget?.succeeded()
    this.#before = this.#host.counts()
    await Promise.race([this.#host.prepare(connection), connection.lost])
    if (!this.#isStopped() && connection.isOpen) {
      this.#state = 'ready'
      this.#reason = undefined
      this.#attempts = 0
      this.#summary = undefined
      this.#checkHealth()
      this.#host.onReady()
    }
    const left = new Promise<Error>(resolve => {
      this.#leave = resolve
    })
    const cause = await Promise.race([connection.lost, left])
    this.#leave = undefined
    this.#health?.stop()
    this.#first = undefined
    this.#down(cause)
    this.#keepUntilClosed(connection)
    // Released before the next one is opened: two processes at once may conflict.
    if (connection.isOpen) void connection.closeWhenUnused(this.#host.deadlines)
    else await connection.closeUnlessRetired()
  }

  #keepUntilClosed(connection: UpstreamConnection): void {
    this.#lost.add(connection)
    void connection.closed.then(() => this.#lost.delete(connection))
  }

  #makeBudget(): RestartBudget | undefined {
    const { restart, command } = this.#options
    if (restart === false) return undefined
    const { clock } = this.#host
    // A process that fails to start keeps failing; an address may become reachable at any time.
    const defaults = command === undefined ? { maxRestarts: Number.POSITIVE_INFINITY } : {}
    return new RestartBudget(
      { ...defaults, ...restart },
      { now: () => clock.now(), random: Math.random },
    )
  }

  #checkHealth(): void {
    const connection = this.#first
    if (connection === undefined) return
    this.#health?.stop()
    this.#health = new HealthCheck(connection, this.#options.health ?? {}, this.#host.deadlines, {
      received: () => this.#host.received(),
      onMissed: () => this.#host.onMissed(),
      onRecovered: () => this.#host.onRecovered(),
      onDead: () => {
        connection.lose(new ChannelError('timeout', 'it does not respond any more'))
        // It would not honor a request to exit either, and is replaced only after it has exited.
        connection.child?.kill()
      },
      onAway: cause => this.leave(cause),
    })
  }

  #down(cause: Error | undefined): void {
    if (this.#isStopped()) return
    const before = this.#reason
    this.#reason = failureText(cause)
    this.#summary = failureSummary(cause)
    this.#cause = cause
    this.#state = 'waiting'
    this.#host.onDown(cause, this.#reason !== before)
  }

  /** Waits before the next attempt; returns false if there is none. */
  async #mayContinue(): Promise<boolean> {
    const cause = this.#cause
    const { status } = rootCause(cause)
    const before = this.#before
    const { begun, succeeded } = this.#host.counts()
    this.#before = { begun, succeeded }
    const next = this.#isUnstartable
      ? 'quarantine'
      : (this.#budget?.next({
          hasAnswered: succeeded > before.succeeded,
          isUnused: begun === before.begun,
          // Credentials do not become valid by being sent more often.
          isAlone: this.#host.isAlone() && !isRefusedCredentials(status),
          isShortage: isShortage(cause),
        }) ?? 'quarantine')
    if (next === 'quarantine') {
      const why = this.#isUnstartable
        ? 'it cannot be started'
        : (this.#budget?.reason ?? restartsDisabled)
      const isSaid = this.#summary === undefined || this.#isUnstartable
      this.#quarantine(
        this.#reason === undefined ? why : `${why}: ${this.#reason}`,
        isSaid ? why : `${why}: ${this.#summary}`,
      )
      return false
    }
    const delayMs = Math.max(next.delayMs, retryAfterMsOf(cause) ?? 0)
    this.#restarts++
    if (++this.#attempts === 1 || !isShortage(cause)) this.#host.onRestart(this.#attempts, delayMs)
    this.#backoff = sleep(delayMs, this.#host.clock)
    await this.#backoff.done
    this.#backoff = undefined
    return !this.#isStopped()
  }

  #quarantine(reason: string, summary: string): void {
    this.#state = 'quarantined'
    this.#reason = reason
    this.#summary = summary
    this.#host.onQuarantined(reason)
    this.#running = undefined
  }

  // A method, because the compiler takes a field that was compared before for settled.
  #isStopped(): boolean {
    return this.#state === 'stopped'
  }
}

/** Returns whether two parts of a configuration differ. */
export function differs(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) !== JSON.stringify(after)
}
