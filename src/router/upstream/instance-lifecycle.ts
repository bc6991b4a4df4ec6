import { ChannelError } from '../../jsonrpc/channel.ts'
import { outsideTraces } from '../../mcp/trace-context.ts'
import type { Clock } from '../../util/time/clock.ts'
import type { Deadlines } from '../../util/time/deadline.ts'
import { type Sleep, sleep } from '../../util/time/sleep.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import type { UpstreamOptions } from '../options.ts'
import { RestartBudget } from '../policy/restart-budget.ts'
import { HealthCheck } from './health-check.ts'

/**
 * The state of an instance: being connected, connected, waiting to be restarted, given up until
 * `retry()`, or stopped for good.
 */
export type InstanceState = 'starting' | 'ready' | 'waiting' | 'quarantined' | 'stopped'

/** What the lifecycle of an instance needs, and what it reports. */
export interface LifecycleHost {
  readonly clock: Clock
  readonly deadlines: Deadlines
  /** Opens the first connection. */
  open(): Promise<UpstreamConnection>
  /** The instance is connected, for the first time or after a restart. */
  onReady(): void
  /** The instance was lost, or could not be connected. */
  onDown(cause: Error | undefined): void
  /** The instance is restarted after `delayMs`. */
  onRestart(attempt: number, delayMs: number): void
  onQuarantined(reason: string): void
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
  #state: InstanceState = 'starting'
  #reason: string | undefined
  #first: UpstreamConnection | undefined
  #restarts = 0
  /** The wait before the next attempt. */
  #backoff: Sleep | undefined
  #running: Promise<void> | undefined
  #health: HealthCheck | undefined

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

  /** Stops the instance for good. Settles when its connection is closed; never rejects. */
  async stop(cause: Error): Promise<void> {
    this.#state = 'stopped'
    this.#backoff?.wake()
    this.#health?.stop()
    this.#first?.lose(cause)
    await Promise.all([this.#first?.close(), this.#running])
  }

  async #run(): Promise<void> {
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
      this.#down(error instanceof Error ? error : new Error(String(error)))
      return
    }
    if (this.#isStopped()) {
      await connection.close()
      return
    }
    this.#first = connection
    this.#state = 'ready'
    this.#reason = undefined
    this.#budget?.succeeded()
    this.#checkHealth()
    this.#host.onReady()
    const cause = await connection.lost
    this.#health?.stop()
    this.#first = undefined
    this.#down(cause)
    // Released before the next one is opened: two processes at once may be one too many.
    await connection.close()
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
      onRecovered: () => this.#host.onRecovered(),
      onDead: () => {
        connection.lose(new ChannelError('timeout', 'it does not respond any more'))
        // It would not honor a request to exit either, and is replaced only after it has exited.
        connection.child?.kill()
      },
    })
  }

  #down(cause: Error | undefined): void {
    if (this.#isStopped()) return
    this.#reason = cause?.message ?? 'the connection was closed'
    this.#state = 'waiting'
    this.#host.onDown(cause)
  }

  /** Waits before the next attempt; returns false if there is none. */
  async #mayContinue(): Promise<boolean> {
    const next = this.#budget?.next() ?? 'quarantine'
    if (next === 'quarantine') {
      const why = this.#budget?.reason ?? restartsDisabled
      this.#state = 'quarantined'
      this.#reason = this.#reason === undefined ? why : `${why}: ${this.#reason}`
      this.#host.onQuarantined(this.#reason)
      this.#running = undefined
      return false
    }
    this.#restarts++
    this.#host.onRestart(this.#restarts, next.delayMs)
    this.#backoff = sleep(next.delayMs, this.#host.clock)
    await this.#backoff.done
    this.#backoff = undefined
    return !this.#isStopped()
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
