import type { Session } from '../../server/core/session.ts'
import { orAborted } from '../../util/abort.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Clock } from '../../util/time/clock.ts'
import { isSame } from '../config/diff.ts'
import type { Call, Delivered } from '../forward/call.ts'
import { unavailable } from '../forward/errors.ts'
import type { UpstreamOptions } from '../options.ts'
import { type Balance, makeBalance } from '../policy/balance.ts'
import { Outliers } from '../policy/outlier-detection.ts'
import { mayRetry, outcomeOf, RetryBudget } from '../policy/retry.ts'
import type { Instance } from '../upstream/instance.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { Delivery, type DeliveryHost } from './attempt.ts'

/**
 * Sends calls to the instances of one server: chooses one that is well, counts how it does, and tries
 * another one where it is certain that nothing happens twice.
 */
export class Dispatch {
  readonly #upstream: Upstream
  readonly #clock: Clock
  readonly #random: () => number
  #options: UpstreamOptions
  #balance: Balance<Instance>
  readonly #outliers: Outliers
  #retries: RetryBudget
  readonly #host: DeliveryHost
  /** Where the sessions of callers live on, for servers that have sessions of their own. */
  readonly #homes = new WeakMap<Session, Instance>()
  #judgedAt = 0

  constructor(upstream: Upstream, clock: Clock, random: () => number = Math.random) {
    this.#upstream = upstream
    this.#clock = clock
    this.#random = random
    this.#options = upstream.options
    this.#balance = this.#makeBalance()
    this.#outliers = new Outliers(() => clock.now())
    this.#retries = this.#makeRetries()
    this.#host = {
      clock,
      name: upstream.name,
      isHurried: ({ timeoutMs }) => this.#isHurried(timeoutMs),
      choose: (call, tried) => this.#choose(call, tried),
      await: (call, until) => this.#await(call, until),
      unavailable: () => this.#unavailable(),
      settle: (session, instance) => this.#settle(session, instance),
      mayRetry: (call, error, attempt) => this.#mayRetry(call, error, attempt),
    }
  }

  /** The options of the server are others. What they say the same of goes on as it was. */
  adjust(): void {
    const before = this.#options
    const { options } = this.#upstream
    this.#options = options
    if (before.balance !== options.balance) this.#balance = this.#makeBalance()
    if (!isSame(before.retry, options.retry)) this.#retries = this.#makeRetries()
  }

  /** Why an instance gets no calls though it is there. */
  ejection(instance: Instance): string | undefined {
    return this.#outliers.why(instance.key)
  }

  /** Rejects with the RpcError of the server, or with one that says what is wrong with the way to it. */
  send(call: Call): Promise<Delivered> {
    this.#retries.called()
    return new Promise((resolve, reject) => {
      new Delivery(this.#host, call, resolve, reject).begin()
    })
  }

  #choose(call: Call, tried: ReadonlySet<Instance> | undefined): Instance | undefined {
    const { instances } = this.#upstream
    const { pinned } = call
    if (pinned !== undefined) return this.#isOpen(pinned) ? pinned : undefined
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
  async #await(call: Call, lastMs = Number.POSITIVE_INFINITY): Promise<Instance> {
    const until = Math.min(lastMs, this.#clock.now() + limits.upstreamWaitMs.default)
    const candidates = call.pinned === undefined ? this.#upstream.instances : [call.pinned]
    for (;;) {
      const instance = this.#choose(call, undefined)
      if (instance !== undefined) return instance
      const leftMs = until - this.#clock.now()
      if (leftMs <= 0 || !candidates.some(isComing)) throw this.#unavailable()
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

  /** Whether the caller waits for less than the server has. */
  #isHurried(timeoutMs: number): boolean {
    const usualMs = this.#options.timeoutMs ?? limits.upstreamCallMs.default
    return timeoutMs > 0 && (usualMs === 0 || timeoutMs < usualMs)
  }

  #mayRetry(call: Call, error: unknown, attempt: number): boolean {
    const { abort, pinned, safety } = call
    if (attempt >= this.#retries.attempts || abort.signal.aborted || pinned !== undefined)
      return false
    const { outcome, wasSent } = outcomeOf(error)
    return mayRetry(outcome, { ...safety, wasSent }) && this.#retries.take()
  }

  #makeBalance(): Balance<Instance> {
    const { balance = 'two-choices' } = this.#options
    return makeBalance<Instance>(balance, {
      random: this.#random,
      placeOf: ({ target }) => target.place,
    })
  }

  #makeRetries(): RetryBudget {
    return new RetryBudget(this.#options.retry ?? {}, () => this.#clock.now())
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
