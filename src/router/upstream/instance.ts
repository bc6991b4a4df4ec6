import { ChannelError } from '../../jsonrpc/channel.ts'
import { outsideTraces } from '../../mcp/trace-context.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { ChildProcess } from '../../transport/process/child.ts'
import type { Clock } from '../../util/time/clock.ts'
import { timed } from '../../util/time/deadline.ts'
import { Pause } from '../../util/time/pause.ts'
import { allCapabilities } from '../connection/capabilities.ts'
import type { Lane } from '../connection/connection.ts'
import { Lanes, type LaneUser } from '../connection/connection-pool.ts'
import type { UpstreamOptions } from '../options.ts'
import type { Candidate } from '../policy/balance.ts'
import { Breaker, type BreakerState } from '../policy/breaker.ts'
import { Load } from '../policy/load-stats.ts'
import { RestartBudget } from '../policy/restart-budget.ts'
import { Dialling, type DiallingHost } from './connector.ts'
import { Health } from './health-check.ts'
import type { Target } from './target.ts'

/**
 * How an instance is: being opened, open, waiting to be opened again, given up until somebody looks,
 * or ended for good.
 */
export type InstanceState = 'starting' | 'ready' | 'waiting' | 'quarantined' | 'stopped'

/** What an instance is made with, and whom it tells. */
export interface InstanceHost extends Omit<DiallingHost, 'onWebSocket' | 'onNews'> {
  readonly clock: Clock
  /** It can be called. */
  onReady(instance: Instance): void
  /** It cannot be called any more, or still cannot. */
  onDown(instance: Instance, cause: Error | undefined): void
  /** It is being opened again. */
  onRestart(instance: Instance, attempt: number, delayMs: number): void
  onQuarantined(instance: Instance, reason: string): void
  onBreaker(instance: Instance, from: BreakerState, to: BreakerState, why: string): void
  /** A notification that belongs to no call. */
  onNews(instance: Instance, method: string, params: Members | undefined): void
}

/**
 * One instance of a server: its connections, opened again whenever they are lost, so often and no
 * oftener, and what is known of how it does.
 */
export class Instance implements Candidate {
  readonly target: Target
  readonly load: Load
  readonly #host: InstanceHost
  #options: UpstreamOptions
  #breaker: Breaker | undefined
  readonly #lanes: Lanes
  #budget: RestartBudget | undefined
  readonly #dialling: Dialling
  readonly #pause: Pause
  #state: InstanceState = 'starting'
  #reason: string | undefined
  #first: Lane | undefined
  #restarts = 0
  #running: Promise<void> | undefined
  #health: Health | undefined

  constructor(target: Target, options: UpstreamOptions, host: InstanceHost) {
    this.target = target
    this.#options = options
    this.#host = host
    const { clock } = host
    const now = () => clock.now()
    this.load = new Load({ key: target.key, weight: target.weight, now })
    this.#breaker = this.#makeBreaker()
    this.#budget = this.#makeBudget()
    this.#pause = new Pause(clock, host.deadlines)
    const { deadlines, client, doubtMs, openMs, traffic } = host
    this.#dialling = new Dialling(target, {
      deadlines,
      client,
      doubtMs,
      openMs,
      traffic,
      // Whoever takes one is there; what it was blamed for may have been done by the one before.
      onWebSocket: () => this.breaker?.tryNow(),
      onNews: (method, params) => host.onNews(this, method, params),
    })
    this.#lanes = new Lanes({
      sharing: sharingOf(options),
      deadlines,
      open: (capabilities, errand) => this.#dialling.open(() => capabilities, errand),
    })
  }

  get key(): string {
    return this.target.key
  }

  /** Undefined where the options want none. */
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
    return this.#state
  }

  /** Why it is not ready, in one line. */
  get reason(): string | undefined {
    return this.#reason
  }

  /**
   * The same as callers are told: without what its program has written, and without addresses, which are
   * nobody's business.
   */
  get excuse(): string | undefined {
    if (this.#state === 'quarantined' && this.#budget === undefined) return neverAgain
    if (this.#state !== 'ready') return excuses[this.#state]
    const { breaker } = this
    return breaker?.state === 'open' ? `its breaker is open, after ${breaker.why}` : undefined
  }

  /** How often it was opened again. */
  get restarts(): number {
    return this.#restarts
  }

  /** Milliseconds until it is opened again; undefined where it is not going to be. */
  get retryInMs(): number | undefined {
    return this.#pause.leftMs
  }

  /** Its first connection, which lists and changes come over; undefined while it is not ready. */
  get first(): Lane | undefined {
    return this.#state === 'ready' ? this.#first : undefined
  }

  /** Whether calls go over a WebSocket beside HTTP. */
  get hasWebSocket(): boolean {
    return this.#dialling.hasWebSocket && this.#state === 'ready'
  }

  /** The programs that run for it. */
  get children(): readonly ChildProcess[] {
    return [this.#first, ...this.#lanes.open()].flatMap(lane => lane?.child ?? [])
  }

  /** The end of what its programs have written to their error output; of the last one where none runs. */
  get stderr(): string {
    const { children } = this
    if (children.length === 0) return this.#dialling.latestChild?.stderr ?? ''
    return children.map(({ stderr }) => stderr).join('')
  }

  /** Whether a call may go there now. */
  get isReady(): boolean {
    return this.first?.isOpen === true && (this.breaker?.isReady ?? true)
  }

  /**
   * Other options from now on, as far as they can change while it is connected: when it counts as
   * broken, how often it is opened again, how it is asked for signs of life.
   */
  adjust(options: UpstreamOptions): void {
    const before = this.#options
    this.#options = options
    if (isOther(before.breaker, options.breaker)) this.#breaker = this.#makeBreaker()
    if (isOther(before.restart, options.restart)) this.#budget = this.#makeBudget()
    if (isOther(before.health, options.health) && this.first !== undefined) this.#watch(this.first)
  }

  /** Begins to open it, and to keep it open. */
  start(): void {
    this.#running ??= outsideTraces(() => this.#run())
  }

  /** Lets one that was given up begin anew, and one that waits go on at once. */
  retry(): void {
    if (this.#state === 'quarantined') {
      this.#budget?.release()
      this.#running = outsideTraces(() => this.#run())
    } else this.#pause.end()
  }

  /** The connection for a caller. Throws a ChannelError `'closed'` where there is none. */
  lane(user: LaneUser): Lane | Promise<Lane> {
    const { first } = this
    if (first === undefined) throw new ChannelError('closed', this.#reason ?? 'not connected')
    return this.#lanes.for(first, user)
  }

  /** Cuts its connections, as if they had been lost: it does not answer any more. */
  lose(cause: Error): void {
    this.#first?.lose(cause)
  }

  /** Ends it for good; calls under way are waited for as long as `drainMs`. Never rejects. */
  async stop(drainMs = 0): Promise<void> {
    if (drainMs > 0) await this.#drained(drainMs)
    this.#state = 'stopped'
    const cause = new ChannelError('closed', 'the server was taken away')
    const dialled = this.#dialling.stop(cause)
    this.#pause.end()
    this.#health?.stop()
    this.#first?.lose(cause)
    await Promise.all([this.#first?.close(), this.#lanes.close(), this.#running, dialled])
  }

  async #run(): Promise<void> {
    for (let attempt = 0; this.#state !== 'stopped'; attempt++) {
      if (attempt > 0 && !(await this.#mayGoOn())) return
      await this.#once()
    }
  }

  /** Opens it and waits for its end, which is told at once, whichever of the two failed. */
  async #once(): Promise<void> {
    this.#state = 'starting'
    const sharing = sharingOf(this.#options)
    let lane: Lane
    try {
      lane = await this.#dialling.open(sharing === 'one' ? allCapabilities : () => ({}))
    } catch (error) {
      this.#down(error instanceof Error ? error : new Error(String(error)))
      return
    }
    if (this.#isStopped()) {
      await lane.close()
      return
    }
    this.#first = lane
    this.#state = 'ready'
    this.#reason = undefined
    this.#budget?.succeeded()
    if (this.#restarts > 0) {
      this.load.recovered()
      // What it is blamed for was done by the one before.
      this.breaker?.reset()
    }
    this.#watch(lane)
    this.#host.onReady(this)
    const cause = await lane.lost
    this.#health?.stop()
    this.#first = undefined
    this.#down(cause)
    // What is left of it goes before another comes: two of them at once may be one too many.
    await lane.close()
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

  #makeBudget(): RestartBudget | undefined {
    const { restart, command } = this.#options
    if (restart === false) return undefined
    const { clock } = this.#host
    // A program that does not start will not; an address may be reached again any time.
    const most = command === undefined ? { most: Number.POSITIVE_INFINITY } : {}
    return new RestartBudget(
      { ...most, ...restart },
      { now: () => clock.now(), random: Math.random },
    )
  }

  /** Asks for signs of life from now on. */
  #watch(lane: Lane): void {
    this.#health?.stop()
    this.#health = new Health(lane, this.#options.health ?? {}, this.#host.deadlines, {
      onBack: () => this.breaker?.tryNow(),
      onDead: () => {
        this.lose(new ChannelError('timeout', 'it does not answer any more'))
        // It would not heed being asked to leave either, and another one takes its place only then.
        lane.child?.kill()
      },
    })
  }

  #down(cause: Error | undefined): void {
    if (this.#isStopped()) return
    this.#reason = cause?.message ?? 'the connection ended'
    this.#state = 'waiting'
    this.#host.onDown(this, cause)
  }

  /** Waits before the next attempt; false where there is none. */
  async #mayGoOn(): Promise<boolean> {
    const next = this.#budget?.next() ?? 'quarantine'
    if (next === 'quarantine') {
      const why = this.#budget?.reason ?? neverAgain
      this.#state = 'quarantined'
      this.#reason = this.#reason === undefined ? why : `${why}: ${this.#reason}`
      this.#host.onQuarantined(this, this.#reason ?? why)
      this.#running = undefined
      return false
    }
    this.#restarts++
    this.#host.onRestart(this, this.#restarts, next.delayMs)
    await this.#pause.wait(next.delayMs)
    return !this.#isStopped()
  }

  /** Waits until no call is under way, but no longer than so many milliseconds. */
  async #drained(drainMs: number): Promise<void> {
    const { clock, deadlines } = this.#host
    const until = clock.now() + drainMs
    while (this.load.inFlight > 0 && clock.now() < until) {
      await new Promise<void>(resolve => deadlines.start(timed(resolve), 20))
    }
  }

  // A method, because a field that was compared before counts as settled for the compiler.
  #isStopped(): boolean {
    return this.#state === 'stopped'
  }
}

const excuses: Readonly<Record<Exclude<InstanceState, 'ready'>, string>> = {
  starting: 'it is being started',
  waiting: 'it has ended, and is started again',
  quarantined: 'it has ended too often, and was put away',
  stopped: 'it was taken away',
}

const neverAgain = 'it is not to be started again'

/**
 * Who shares its connections. One program does for everybody, because another one would be another
 * server, with a state of its own; connections to an address cost little.
 */
function sharingOf({ connections, command }: UpstreamOptions): 'alike' | 'one' | 'each' {
  return connections ?? (command === undefined ? 'alike' : 'one')
}

/** Whether two parts of a configuration say something else. */
function isOther(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) !== JSON.stringify(after)
}
