import type { Session } from '../../server/core/session.ts'
import { limits } from '../../util/limits/limits.ts'
import { abortable } from '../../util/promises.ts'
import type { Clock } from '../../util/time/clock.ts'
import { isSame } from '../config/diff.ts'
import { unavailable } from '../forward/errors.ts'
import type { UpstreamCall, UpstreamResult } from '../forward/upstream-call.ts'
import type { UpstreamOptions } from '../options.ts'
import { type Balancer, makeBalancer } from '../policy/balance.ts'
import { OutlierDetection } from '../policy/outlier-detection.ts'
import { mayRetry, outcomeOf, RetryBudget } from '../policy/retry.ts'
import type { Instance } from '../upstream/instance.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { Attempt, type AttemptHost } from './attempt.ts'

/**
 * Sends calls to the instances of one server: chooses a healthy one, and retries on another one if it is
 * certain that the call is not carried out twice.
 */
export class Dispatch implements AttemptHost {
  readonly clock: Clock
  readonly #upstream: Upstream
  readonly #random: () => number
  #options: UpstreamOptions
  #balancer: Balancer<Instance>
  readonly #outliers: OutlierDetection
  #retries: RetryBudget
  /** The instances that hold the sessions of callers, for session-based servers. */
  readonly #sessions = new WeakMap<Session, Instance>()
  #checkedAt = 0

  constructor(upstream: Upstream, clock: Clock, random: () => number = Math.random) {
    this.#upstream = upstream
    this.clock = clock
    this.#random = random
    this.#options = upstream.options
    this.#balancer = this.#makeBalancer()
    this.#outliers = new OutlierDetection(() => clock.now())
    this.#retries = this.#makeRetries()
  }

  /** Applies changed options. State that belongs to unchanged options is kept. */
  adjust(): void {
    const before = this.#options
    const { options } = this.#upstream
    this.#options = options
    if (before.balance !== options.balance) this.#balancer = this.#makeBalancer()
    if (!isSame(before.retry, options.retry)) this.#retries = this.#makeRetries()
  }

  /** Returns why an instance that is ready gets no calls; undefined if it gets calls. */
  ejection(instance: Instance): string | undefined {
    return this.#outliers.why(instance.key)
  }

  get name(): string {
    return this.#upstream.name
  }

  /** Sends a call. Rejects with the RpcError of the server, or with one that says why it was not reached. */
  send(call: UpstreamCall): Promise<UpstreamResult> {
    this.#retries.called()
    return new Promise((resolve, reject) => {
      new Attempt(this, call, resolve, reject).start()
    })
  }

  choose(call: UpstreamCall, tried: ReadonlySet<Instance> | undefined): Instance | undefined {
    const { instances } = this.#upstream
    const { pinned } = call
    if (pinned !== undefined) return this.#isOpen(pinned) ? pinned : undefined
    const [only] = instances
    if (instances.length === 1 && only !== undefined) {
      // The only instance may be tried again.
      return this.#isOpen(only) ? only : undefined
    }
    const { session } = call
    const bound = session === undefined ? undefined : this.#sessions.get(session)
    if (bound !== undefined && this.#isOpen(bound) && !tried?.has(bound)) return bound
    this.#detectOutliers()
    const ready = instances.filter(one => this.#isOpen(one) && !tried?.has(one))
    const healthy = ready.filter(({ key }) => !this.#outliers.isEjected(key))
    return this.#balancer(healthy.length > 0 ? healthy : ready, call.hashKey)
  }

  #isOpen(instance: Instance): boolean {
    return instance.isReady && this.#upstream.isKnown(instance)
  }

  /**
   * Waits until `deadline` for an instance that is being started; rejects if there is none. An instance
   * that was tried is taken if there is no other, or if it has been restarted.
   */
  async whenAvailable(call: UpstreamCall, deadline = Number.POSITIVE_INFINITY): Promise<Instance> {
    const until = Math.min(deadline, this.clock.now() + limits.upstreamWaitMs.default)
    const candidates = call.pinned === undefined ? this.#upstream.instances : [call.pinned]
    for (;;) {
      const instance = this.choose(call, undefined)
      if (instance !== undefined) return instance
      const remainingMs = until - this.clock.now()
      if (remainingMs <= 0 || !candidates.some(isStarting)) throw this.unavailable()
      await abortable(this.#upstream.nextReady(remainingMs), call.abort.signal)
    }
  }

  unavailable(): Error {
    const { name, instances, unavailableReason } = this.#upstream
    const waits = instances.flatMap(one => one.retryInMs ?? one.breaker?.retryAfterMs ?? [])
    const retryAfterMs = Math.min(...waits.filter(ms => ms > 0))
    const reason = unavailableReason ?? instances.find(isUnavailable)?.unavailableReason
    const wait = Number.isFinite(retryAfterMs) ? retryAfterMs : undefined
    return unavailable(name, reason ?? 'it takes no calls', wait)
  }

  bindSession(session: Session | undefined, instance: Instance): void {
    if (session === undefined || this.#upstream.instances.length === 1) return
    if (this.#sessions.get(session) !== instance) this.#sessions.set(session, instance)
  }

  deadlineOf({ timeoutMs, queuedMs }: UpstreamCall): number | undefined {
    const serverMs = this.#options.timeoutMs ?? limits.upstreamCallMs.default
    const isShorter = timeoutMs > 0 && (serverMs === 0 || timeoutMs < serverMs)
    return isShorter ? this.clock.now() + timeoutMs - queuedMs : undefined
  }

  mayRetry(call: UpstreamCall, error: unknown, attempt: number): boolean {
    const { abort, pinned, safety } = call
    if (attempt >= this.#retries.attempts || abort.signal.aborted || pinned !== undefined)
      return false
    const { outcome, wasSent } = outcomeOf(error)
    return mayRetry(outcome, { ...safety, wasSent }) && this.#retries.take()
  }

  #makeBalancer(): Balancer<Instance> {
    const { balance = 'two-choices' } = this.#options
    return makeBalancer<Instance>(balance, {
      random: this.#random,
      hashIdOf: ({ target }) => target.hashId,
    })
  }

  #makeRetries(): RetryBudget {
    return new RetryBudget(this.#options.retry ?? {}, () => this.clock.now())
  }

  #detectOutliers(): void {
    const now = this.clock.now()
    if (now - this.#checkedAt < 1000) return
    this.#checkedAt = now
    this.#outliers.check(this.#upstream.instances.map(({ load }) => load))
  }
}

function isUnavailable({ unavailableReason }: Instance): boolean {
  return unavailableReason !== undefined
}

function isStarting({ state, breaker }: Instance): boolean {
  return (
    state === 'starting' || state === 'waiting' || (state === 'ready' && breaker?.isReady !== false)
  )
}
