import { ChannelError } from '../../jsonrpc/channel.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { ChildProcess } from '../../transport/process/child.ts'
import type { Clock } from '../../util/time/clock.ts'
import { timed } from '../../util/time/deadline.ts'
import { allCapabilities } from '../connection/capabilities.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import { ConnectionPool, type PooledCall } from '../connection/connection-pool.ts'
import type { UpstreamOptions } from '../options.ts'
import type { Candidate } from '../policy/balance.ts'
import { Breaker, type BreakerState } from '../policy/breaker.ts'
import { LoadStats } from '../policy/load-stats.ts'
import { Connector, type ConnectorHost } from './connector.ts'
import {
  differs,
  InstanceLifecycle,
  type InstanceState,
  restartsDisabled,
} from './instance-lifecycle.ts'
import type { Target } from './target.ts'

/** What an instance needs, and what it reports. */
export interface InstanceHost extends Omit<ConnectorHost, 'onWebSocket' | 'onNotification'> {
  readonly clock: Clock
  /** The instance takes calls. */
  onReady(instance: Instance): void
  /** The instance was lost, or could not be connected. */
  onDown(instance: Instance, cause: Error | undefined): void
  /** The instance is restarted after `delayMs`. */
  onRestart(instance: Instance, attempt: number, delayMs: number): void
  onQuarantined(instance: Instance, reason: string): void
  onBreaker(instance: Instance, from: BreakerState, to: BreakerState, why: string): void
  /** Called with every notification that belongs to no call. */
  onNotification(instance: Instance, method: string, params: Members | undefined): void
}

/** One instance of an upstream server: its connections, its lifecycle, its load and its circuit breaker. */
export class Instance implements Candidate {
  readonly target: Target
  readonly load: LoadStats
  readonly #host: InstanceHost
  #options: UpstreamOptions
  #breaker: Breaker | undefined
  readonly #lifecycle: InstanceLifecycle
  readonly #connector: Connector
  readonly #pool: ConnectionPool

  constructor(target: Target, options: UpstreamOptions, host: InstanceHost) {
    this.target = target
    this.#options = options
    this.#host = host
    const { clock, deadlines, client, attributionTimeoutMs, connectTimeoutMs, traffic } = host
    this.load = new LoadStats({ key: target.key, weight: target.weight, now: () => clock.now() })
    this.#breaker = this.#makeBreaker()
    this.#lifecycle = this.#makeLifecycle()
    this.#connector = new Connector(target, {
      deadlines,
      client,
      attributionTimeoutMs,
      connectTimeoutMs,
      traffic,
      // A server that accepts a WebSocket is reachable; what the breaker opened for may be over.
      onWebSocket: () => this.breaker?.tryNow(),
      onNotification: (method, params) => host.onNotification(this, method, params),
    })
    this.#pool = new ConnectionPool({
      sharing: sharingOf(options),
      deadlines,
      open: (capabilities, call) => this.#connector.open(() => capabilities, call),
    })
  }

  get key(): string {
    return this.target.key
  }

  /** Undefined if the options disable it. */
  get breaker(): Breaker | undefined {
    return this.#breaker
  }

  get weight(): number {
    return this.load.weight
  }

  get inFlight(): number {
    return this.load.inFlight
  }

  get errorRate(): number {
    return this.load.errorRate
  }

  get latencyMs(): number {
    return this.load.latencyMs
  }

  get state(): InstanceState {
    return this.#lifecycle.state
  }

  /** Why the instance is not ready, in one line, for the operator. */
  get reason(): string | undefined {
    return this.#lifecycle.reason
  }

  /**
   * Why the instance takes no calls, in one line, for callers: without the output of its process, and
   * without addresses.
   */
  get unavailableReason(): string | undefined {
    const { state, mayRestart } = this.#lifecycle
    if (state === 'quarantined' && !mayRestart) return restartsDisabled
    if (state !== 'ready') return unavailableReasons[state]
    const { breaker } = this
    return breaker?.state === 'open'
      ? `its circuit breaker is open after ${breaker.why}`
      : undefined
  }

  get restarts(): number {
    return this.#lifecycle.restarts
  }

  /** Milliseconds until the next restart; undefined if none is scheduled. */
  get retryInMs(): number | undefined {
    return this.#lifecycle.retryInMs
  }

  /** The first connection, which lists and changes come over; undefined while the instance is not ready. */
  get first(): UpstreamConnection | undefined {
    const { state, first } = this.#lifecycle
    return state === 'ready' ? first : undefined
  }

  /** Whether calls go over a WebSocket instead of HTTP. */
  get hasWebSocket(): boolean {
    return this.#connector.hasWebSocket && this.state === 'ready'
  }

  /** The processes that run for it. */
  get children(): readonly ChildProcess[] {
    return [this.#lifecycle.first, ...this.#pool.open()].flatMap(one => one?.child ?? [])
  }

  /** The end of the error output of its processes; of the latest one if none is running. */
  get stderr(): string {
    const { children } = this
    if (children.length === 0) return this.#connector.latestChild?.stderr ?? ''
    return children.map(({ stderr }) => stderr).join('')
  }

  /** Whether the instance takes a call now. */
  get isReady(): boolean {
    return this.first?.isOpen === true && (this.breaker?.isReady ?? true)
  }

  /** Applies the options that can change while it is connected: breaker, restarts and health checks. */
  adjust(options: UpstreamOptions): void {
    const before = this.#options
    this.#options = options
    if (differs(before.breaker, options.breaker)) this.#breaker = this.#makeBreaker()
    this.#lifecycle.adjust(options)
  }

  /** Starts to connect the instance, and to keep it connected. */
  start(): void {
    this.#lifecycle.start()
  }

  /** Restarts a quarantined instance, or one that waits for its restart, at once. */
  retry(): void {
    this.#lifecycle.retry()
  }

  /** Returns the connection for a call. Throws a ChannelError `'closed'` if the instance is not ready. */
  connectionFor(call: PooledCall): UpstreamConnection | Promise<UpstreamConnection> {
    const { first } = this
    if (first === undefined) throw new ChannelError('closed', this.reason ?? 'not connected')
    return this.#pool.for(first, call)
  }

  /** Stops it for good, after at most `drainMs` in which calls in flight complete. Never rejects. */
  async stop(drainMs = 0): Promise<void> {
    if (drainMs > 0) await this.#drained(drainMs)
    const cause = new ChannelError('closed', 'the server was removed')
    const stopped = this.#lifecycle.stop(cause)
    await Promise.all([stopped, this.#connector.stop(cause), this.#pool.close()])
  }

  #makeLifecycle(): InstanceLifecycle {
    const host = this.#host
    const { clock, deadlines } = host
    return new InstanceLifecycle(this.#options, {
      clock,
      deadlines,
      open: () => {
        const isShared = sharingOf(this.#options) === 'shared'
        return this.#connector.open(isShared ? allCapabilities : () => ({}))
      },
      onReady: () => {
        if (this.restarts > 0) {
          this.load.recovered()
          // Its failures were those of the one before.
          this.breaker?.reset()
        }
        host.onReady(this)
      },
      onDown: cause => host.onDown(this, cause),
      onRestart: (attempt, delayMs) => host.onRestart(this, attempt, delayMs),
      onQuarantined: reason => host.onQuarantined(this, reason),
      onRecovered: () => this.breaker?.tryNow(),
    })
  }

  #makeBreaker(): Breaker | undefined {
    const { breaker } = this.#options
    if (breaker === false) return undefined
    const { clock } = this.#host
    let state: BreakerState = 'closed'
    return new Breaker(breaker ?? {}, {
      now: () => clock.now(),
      onChange: (to, why) => {
        const from = state
        state = to
        this.#host.onBreaker(this, from, to, why)
      },
    })
  }

  /** Waits until no call is in flight, at most `drainMs`. */
  async #drained(drainMs: number): Promise<void> {
    const { clock, deadlines } = this.#host
    const until = clock.now() + drainMs
    while (this.load.inFlight > 0 && clock.now() < until) {
      await new Promise<void>(resolve => deadlines.start(timed(resolve), 20))
    }
  }
}

const unavailableReasons: Readonly<Record<Exclude<InstanceState, 'ready'>, string>> = {
  starting: 'it is starting',
  waiting: 'it is restarting',
  quarantined: 'it is quarantined after too many restarts',
  stopped: 'it was removed',
}

/**
 * Returns which callers share connections. A process is shared by all of them by default, because another
 * one would be another server, with a state of its own; connections to an address are cheap.
 */
function sharingOf({
  connections,
  command,
}: UpstreamOptions): 'compatible' | 'shared' | 'per-caller' {
  return connections ?? (command === undefined ? 'compatible' : 'shared')
}
