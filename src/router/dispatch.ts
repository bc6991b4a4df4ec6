import { orAborted } from '../client/abort.ts'
import type { Revision } from '../mcp/revisions.ts'
import type { LogLevel } from '../mcp/types/logging.ts'
import type { LiveCall } from '../observe/call.ts'
import type { Session } from '../server/session.ts'
import type { Clock } from '../util/clock.ts'
import { limits } from '../util/limits.ts'
import { type Balance, makeBalance } from './balance.ts'
import type { Abort } from './errand.ts'
import { failureOf, isFault, unavailable } from './failure.ts'
import type { Instance } from './instance.ts'
import type { Lane } from './lane.ts'
import type { LaneUser } from './lanes.ts'
import { Outliers } from './outlier.ts'
import { mayRetry, outcomeOf, RetryBudget, type RetryFacts } from './retry.ts'
import type { Upstream } from './upstream.ts'

/** One call to a server, whichever instance gets it. */
export interface Call extends LaneUser {
  /** A middleware may make another one of these two. */
  method: string
  params: object
  readonly abort: Abort
  readonly timeoutMs: number
  /** Whether it may be made twice. */
  readonly safety: Pick<RetryFacts, 'isReadOnly' | 'isIdempotent'>
  /** The only instance that will do. */
  readonly pinned?: Instance
  /** The tool that is called, by the name that its server gives it. */
  readonly tool?: string
  /** Of the request of the caller, where it came over HTTP. */
  readonly headers?: Readonly<Record<string, string>>
  /** What the instance is chosen by, where that is by a hash. */
  hashKey?: string
  /** The least severe log messages that the caller has asked for. */
  readonly logLevel?: LogLevel
  /** The call as those who listen hear of it. */
  readonly live?: LiveCall
  /** What is told of the caller, where the server has to be told with each request. */
  sender(revision: Revision): object
}

/** Who answered a call. */
export interface Source {
  readonly instance: Instance
  readonly lane: Lane
  readonly revision: Revision
}

/** What a call gave. */
export interface Delivered {
  readonly result: unknown
  /** Undefined where a middleware has answered instead. */
  readonly from?: Source
  /** How often it was tried again. */
  readonly retries: number
}

/**
 * Sends calls to the instances of one server: chooses one that is well, counts how it does, and tries
 * another one where it is certain that nothing happens twice.
 */
export class Dispatch {
  readonly #upstream: Upstream
  readonly #clock: Clock
  readonly #balance: Balance<Instance>
  readonly #outliers: Outliers
  readonly #retries: RetryBudget
  /** Where the sessions of callers live on, for servers that have sessions of their own. */
  readonly #homes = new WeakMap<Session, Instance>()
  #judgedAt = 0

  constructor(upstream: Upstream, clock: Clock, random: () => number = Math.random) {
    const { balance = 'two-choices', retry = {} } = upstream.options
    this.#upstream = upstream
    this.#clock = clock
    const now = () => clock.now()
    this.#balance = makeBalance(balance, { random })
    this.#outliers = new Outliers({ now })
    this.#retries = new RetryBudget(retry, now)
  }

  /** Why an instance gets no calls though it is there. */
  ejection(instance: Instance): string | undefined {
    return this.#outliers.why(instance.key)
  }

  /** Rejects with the RpcError of the server, or with one that says what is wrong with the way to it. */
  async send(call: Call): Promise<Delivered> {
    this.#retries.called()
    let tried: Set<Instance> | undefined
    for (let attempt = 1; ; attempt++) {
      const instance = call.pinned ?? this.#choose(call, tried) ?? (await this.#await(call))
      const ticket = instance.breaker?.begin() ?? 1
      if (ticket === 0) throw this.#unavailable()
      const { load, breaker } = instance
      load.begin()
      if (call.live !== undefined) {
        call.live.instance = instance.key
        call.live.retries = attempt - 1
      }
      const began = this.#clock.now()
      try {
        const found = instance.lane(call)
        const lane = found instanceof Promise ? await found : found
        const { revision } = lane.server
        const sender = revision.era === 'stateless' ? call.sender(revision) : undefined
        const heeding = lane.heedLog(call.logLevel)
        if (heeding !== undefined) await heeding
        const { abort, timeoutMs } = call
        const result = await lane.send(call.method, call.params, call.errand, {
          abort,
          timeoutMs,
          sender,
        })
        load.succeeded(this.#clock.now() - began)
        breaker?.succeeded(ticket)
        if (revision.era === 'session') this.#settle(call.session, instance)
        return { result, from: { instance, lane, revision }, retries: attempt - 1 }
      } catch (error) {
        this.#count(instance, error, ticket, began, call.abort.signal)
        tried ??= new Set()
        tried.add(instance)
        if (!this.#mayRetry(call, error, attempt)) throw failureOf(this.#upstream.name, error)
      }
    }
  }

  #choose(call: Call, tried: ReadonlySet<Instance> | undefined): Instance | undefined {
    const { instances } = this.#upstream
    const [only] = instances
    if (instances.length === 1 && only !== undefined) {
      // Where there is but one, trying it again is all that can be done.
      return this.#isOpen(only) ? only : undefined
    }
    const home = call.session === undefined ? undefined : this.#homes.get(call.session)
    if (home !== undefined && this.#isOpen(home) && !tried?.has(home)) return home
    this.#judge()
    const ready = instances.filter(one => this.#isOpen(one) && !tried?.has(one))
    const well = ready.filter(({ key }) => !this.#outliers.isEjected(key))
    return this.#balance(well.length > 0 ? well : ready, call.hashKey)
  }

  #isOpen(instance: Instance): boolean {
    return instance.isReady && this.#upstream.isKnown(instance)
  }

  /**
   * Waits for an instance that is on its way; rejects where none is, or not in time. One that has been
   * tried will do where there is no other, or where it has come back.
   */
  async #await(call: Call): Promise<Instance> {
    const until = this.#clock.now() + limits.upstreamWaitMs.default
    for (;;) {
      const instance = this.#choose(call, undefined)
      if (instance !== undefined) return instance
      const leftMs = until - this.#clock.now()
      if (leftMs <= 0 || !this.#upstream.instances.some(isComing)) throw this.#unavailable()
      await orAborted(this.#upstream.nextReady(leftMs), call.abort.signal)
    }
  }

  #unavailable(): Error {
    const { name, instances, excuse } = this.#upstream
    const waits = instances.flatMap(one => one.retryInMs ?? one.breaker?.retryAfterMs ?? [])
    const retryAfterMs = Math.min(...waits.filter(ms => ms > 0))
    const why = excuse ?? instances.find(one => one.excuse !== undefined)?.excuse
    const wait = Number.isFinite(retryAfterMs) ? retryAfterMs : undefined
    return unavailable(name, why ?? 'it takes no calls', wait)
  }

  #settle(session: Session | undefined, instance: Instance): void {
    if (session === undefined || this.#upstream.instances.length === 1) return
    if (this.#homes.get(session) !== instance) this.#homes.set(session, instance)
  }

  #count(
    { load, breaker }: Instance,
    error: unknown,
    ticket: number,
    began: number,
    signal: AbortSignal,
  ): void {
    const tookMs = this.#clock.now() - began
    if (signal.aborted) {
      load.abandoned()
      breaker?.abandoned(ticket)
    } else if (isFault(error)) {
      load.failed(tookMs)
      breaker?.failed(ticket)
    } else {
      load.succeeded(tookMs)
      breaker?.succeeded(ticket)
    }
  }

  #mayRetry(call: Call, error: unknown, attempt: number): boolean {
    const { abort, pinned, safety } = call
    if (attempt >= this.#retries.attempts || abort.signal.aborted || pinned !== undefined)
      return false
    const { outcome, wasSent } = outcomeOf(error)
    return mayRetry(outcome, { ...safety, wasSent }) && this.#retries.take()
  }

  #judge(): void {
    const now = this.#clock.now()
    if (now - this.#judgedAt < 1000) return
    this.#judgedAt = now
    this.#outliers.judge(this.#upstream.instances.map(({ load }) => load))
  }
}

function isComing({ state, breaker }: Instance): boolean {
  return (
    state === 'starting' || state === 'waiting' || (state === 'ready' && breaker?.isReady !== false)
  )
}
