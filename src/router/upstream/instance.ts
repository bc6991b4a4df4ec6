import { ChannelError } from '../../jsonrpc/channel.ts'
import { credentialKey } from '../../mcp/callers/caller-credentials.ts'
import { notIdentified } from '../../mcp/credentials.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { ChildProcess } from '../../transport/process/child.ts'
import { causeLabel } from '../../util/error-cause.ts'
import { limits } from '../../util/limits/limits.ts'
import { hideValues } from '../../util/text/hidden-values.ts'
import type { Clock } from '../../util/time/clock.ts'
import { timed } from '../../util/time/deadline.ts'
import { allCapabilities, capabilitiesFor } from '../connection/capabilities.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import { ConnectionPool, type PooledCall } from '../connection/connection-pool.ts'
import { SpareConnections } from '../connection/spare-connections.ts'
import type { PoolOptions, UpstreamOptions } from '../options.ts'
import type { Candidate } from '../policy/balance.ts'
import type { Breaker, BreakerState } from '../policy/breaker.ts'
import { type Fault, instanceFaultOf } from '../policy/fault.ts'
import { LoadStats } from '../policy/load-stats.ts'
import { Availability } from './availability.ts'
import { Connector, type ConnectorHost } from './connector.ts'
import { livenessFailure, watchHealth } from './health-check.ts'
import {
  differs,
  InstanceLifecycle,
  type InstanceState,
  restartsDisabled,
} from './instance-lifecycle.ts'
import type { InstanceTarget } from './target.ts'

/** What an instance needs, and what it reports. */
export interface InstanceHost extends Omit<ConnectorHost, 'onWebSocket' | 'onNotification'> {
  readonly clock: Clock
  /** Reads what callers see of the instance. Settles when it can take calls; never rejects. */
  prepare(instance: Instance, connection: UpstreamConnection): Promise<void>
  /** Whether no other instance of the server takes calls. */
  isAlone(instance: Instance): boolean
  /** The instance takes calls. */
  onReady(instance: Instance): void
  /** The instance was lost, or could not be connected; `isNewReason` unless for the same reason as before. */
  onDown(instance: Instance, cause: Error | undefined, isNewReason: boolean): void
  /** The instance is restarted after `delayMs`. */
  onRestart(instance: Instance, attempt: number, delayMs: number): void
  onQuarantined(instance: Instance, reason: string): void
  /** The instance has missed a health check, for the first time in a row. */
  onMissed(instance: Instance): void
  onBreaker(instance: Instance, from: BreakerState, to: BreakerState, why: string): void
  /** Calls that wait for an instance may be sent to this one, or must not wait for it any longer. */
  onAvailability(): void
  /** Called with every notification that belongs to no call. */
  onNotification(instance: Instance, method: string, params: Members | undefined): void
}

/** One instance of an upstream server: its connections, its lifecycle, its load and its circuit breaker. */
export class Instance implements Candidate {
  readonly target: InstanceTarget
  readonly load: LoadStats
  readonly availability: Availability
  readonly #host: InstanceHost
  #options: UpstreamOptions
  readonly #lifecycle: InstanceLifecycle
  readonly #connector: Connector
  readonly #pool: ConnectionPool
  /** Undefined unless the options ask for a pool. */
  readonly #spares: SpareConnections | undefined

  constructor(target: InstanceTarget, options: UpstreamOptions, host: InstanceHost) {
    this.target = target
    this.#options = options
    this.#host = host
    const { clock, deadlines, client, attributionTimeoutMs, connectTimeoutMs, traffic } = host
    this.load = new LoadStats({ key: target.key, weight: target.weight, now: () => clock.now() })
    this.availability = this.#makeAvailability()
    this.#lifecycle = this.#makeLifecycle()
    this.#connector = new Connector(target, {
      deadlines,
      client,
      attributionTimeoutMs,
      connectTimeoutMs,
      enter: signal => host.enter(signal),
      traffic,
      // A server that accepts a WebSocket is reachable; what the breaker opened for may be over.
      onWebSocket: () => this.availability.tryNow(),
      onNotification: (method, params) => host.onNotification(this, method, params),
    })
    this.#pool = new ConnectionPool({
      sharing: sharingOf(options),
      deadlines,
      max: options.pool?.max,
      open: call => this.#openFor(call),
      ...(target.callers && { credentialKeyOf: call => this.#credentialKeyOf(call) }),
    })
    this.#spares = options.pool && this.#makeSpares(options.pool)
  }

  get key(): string {
    return this.target.key
  }

  /** Undefined if the options disable it. */
  get breaker(): Breaker | undefined {
    return this.availability.breaker
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

  /** Why the instance is not ready, in one line, in words that anyone may read. */
  get summary(): string | undefined {
    return this.#lifecycle.summary
  }

  /**
   * Why the instance takes no calls, in one line, for callers: without the output of its process, and
   * without addresses.
   */
  get unavailableReason(): string | undefined {
    const { state, mayRestart } = this.#lifecycle
    const { configError } = this.#options
    if (configError !== undefined) return `its configuration is invalid: ${configError}`
    if (state === 'quarantined' && !mayRestart) return restartsDisabled
    if (state !== 'ready') return unavailableReasons[state]
    return this.availability.reason
  }

  /** Whether it will soon be known that the instance takes calls, although it takes none now. */
  get isOnTrial(): boolean {
    return this.first?.isOpen === true && this.availability.isOnTrial
  }

  get restarts(): number {
    return this.#lifecycle.restarts
  }

  /** Health checks missed in a row. */
  get misses(): number {
    return this.#lifecycle.misses
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
    if (children.length === 0) return hideValues(this.#connector.latestChild?.stderr ?? '')
    return hideValues(children.map(({ stderr }) => stderr).join(''))
  }

  /** Whether the instance takes a call now. */
  get isReady(): boolean {
    return this.first?.isOpen === true && this.availability.isReady
  }

  /**
   * Lets one call through although the breaker is open, if it has been for `breakerPanicMs`; returns whether
   * it does. For a server none of whose instances takes calls.
   */
  mayProbe(): boolean {
    return this.first?.isOpen === true && this.availability.mayProbe()
  }

  /** Must be called when a call failed for a reason that is not its own. */
  onFault(fault: Exclude<Fault, 'none'>, error: unknown): void {
    const label = causeLabel(error) ?? (error instanceof ChannelError ? error.code : fault)
    this.availability.failed(label)
    if (fault === 'busy') this.availability.hold(error)
    else if (fault === 'unsent') this.#onAway(error)
  }

  /** Applies the options that can change while it is connected: breaker, restarts and health checks. */
  adjust(options: UpstreamOptions): void {
    const before = this.#options
    this.#options = options
    if (differs(before.breaker, options.breaker)) this.availability.adjust(options.breaker)
    this.#lifecycle.adjust(options)
  }

  /** Starts to connect the instance, and to keep it connected. */
  start(): void {
    this.#lifecycle.start()
  }

  /** Restarts a quarantined instance, or one that waits for its restart, at once. */
  retry(): void {
    this.availability.release()
    this.#lifecycle.retry()
  }

  /** Makes a restart that is further away than `withinMs` happen then. */
  hurry(withinMs: number): void {
    this.#lifecycle.hurry(withinMs)
  }

  /** Returns the connection for a call. Throws a ChannelError `'closed'` if the instance is not ready. */
  connectionFor(call: PooledCall): UpstreamConnection | Promise<UpstreamConnection> {
    const { first } = this
    if (first === undefined) throw new ChannelError('closed', this.reason ?? 'not connected')
    const connection = this.#pool.for(first, call)
    if (this.#spares === undefined || connection !== first) return connection
    return this.#spares.leastBusy(first)
  }

  /** Stops it for good, after at most `drainMs` in which calls in flight complete. Never rejects. */
  async stop(drainMs = 0): Promise<void> {
    if (drainMs > 0) await this.#drained(drainMs)
    const cause = new ChannelError('closed', 'the server was removed')
    this.availability.stop()
    const stopped = this.#lifecycle.stop(cause)
    await Promise.all([
      stopped,
      this.#connector.stop(cause),
      this.#pool.close(),
      this.#spares?.close(cause),
    ])
  }

  #makeLifecycle(): InstanceLifecycle {
    const host = this.#host
    const { clock, deadlines } = host
    return new InstanceLifecycle(this.#options, {
      clock,
      deadlines,
      open: () => this.#openFirst(),
      prepare: connection => host.prepare(this, connection),
      counts: () => this.load.counts,
      isAlone: () => host.isAlone(this),
      onReady: () => {
        if (this.restarts > 0) {
          this.load.recovered()
          // Its failures were those of the one before.
          this.availability.reset()
        }
        this.#spares?.start()
        host.onReady(this)
      },
      onDown: (cause, isNewReason) => {
        this.#spares?.stop()
        const label = causeLabel(cause)
        if (label !== undefined) this.availability.failed(label)
        host.onDown(this, cause, isNewReason)
      },
      onRestart: (attempt, delayMs) => host.onRestart(this, attempt, delayMs),
      onQuarantined: reason => host.onQuarantined(this, reason),
      received: () => this.#received(),
      onMissed: () => host.onMissed(this),
      onRecovered: () => this.availability.tryNow(),
    })
  }

  /** Opens a connection that declares the capabilities of a caller, with its credentials if it has its own. */
  #openFor(call: PooledCall): Promise<UpstreamConnection> {
    const { caller } = call
    const isShared = sharingOf(this.#options) === 'shared'
    const capabilities = isShared
      ? allCapabilities
      : (revision: Revision) => capabilitiesFor(caller, revision)
    const principal = this.target.callers && caller.principal
    return this.#connector.open(capabilities, call, principal)
  }

  /** Throws a ChannelError `'refused'` for a caller that is not authenticated. */
  #credentialKeyOf({ caller: { principal } }: PooledCall): string {
    if (principal === undefined) throw notIdentified()
    this.target.callers?.present(principal)
    return credentialKey(principal)
  }

  #openFirst(): Promise<UpstreamConnection> {
    const isShared = sharingOf(this.#options) === 'shared'
    return this.#connector.open(isShared ? allCapabilities : () => ({}))
  }

  #makeSpares(options: PoolOptions): SpareConnections {
    const { deadlines } = this.#host
    return new SpareConnections(options, {
      deadlines,
      open: () => this.#openFirst(),
      watch: connection => watchHealth(connection, this.#options.health ?? {}, deadlines),
    })
  }

  #makeAvailability(): Availability {
    const host = this.#host
    const { clock, deadlines } = host
    return new Availability(this.#options.breaker, {
      clock,
      deadlines,
      responds: () => this.#responds(),
      isProbed: () => this.first?.hasStreams === true,
      answered: () => this.load.counts.succeeded,
      onBreaker: (from, to, why) => host.onBreaker(this, from, to, why),
      onChange: () => host.onAvailability(),
    })
  }

  async #responds(): Promise<boolean> {
    const { first } = this
    if (first === undefined) return false
    const { timeoutMs } = this.#options.health ?? {}
    const failure = await livenessFailure(first, timeoutMs ?? limits.healthTimeoutMs.default)
    if (failure !== undefined && instanceFaultOf(failure) === 'unsent') this.#onAway(failure)
    return failure === undefined
  }

  /** A server that cannot be reached is away: it is connected anew, and its breaker has no say in that. */
  #onAway(cause: unknown): void {
    if (this.first?.hasStreams !== true) return
    this.#lifecycle.leave(cause instanceof Error ? cause : new Error(String(cause)))
  }

  /** Counts the messages of the instance: on all connections, unless each has a process of its own. */
  #received(): number {
    const first = this.#lifecycle.first?.received ?? 0
    if (this.#options.command !== undefined) return first
    return this.#pool.open().reduce((sum, { received }) => sum + received, first)
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
  idle: 'it starts when it is used',
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
