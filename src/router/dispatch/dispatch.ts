import { nameIn } from '../../observe/call.ts'
import type { ServerSession } from '../../server/core/session.ts'
import { rootCause } from '../../util/error-cause.ts'
import { limits } from '../../util/limits/limits.ts'
import { abortable } from '../../util/promises.ts'
import type { Clock } from '../../util/time/clock.ts'
import { isSame } from '../config/diff.ts'
import { unavailable } from '../forward/errors.ts'
import type { UpstreamCall, UpstreamResult } from '../forward/upstream-call.ts'
import type { UpstreamOptions } from '../options.ts'
import { type Balancer, makeBalancer } from '../policy/balance.ts'
import { instanceFaultOf } from '../policy/fault.ts'
import { type ObservedInstance, OutlierDetection } from '../policy/outlier-detection.ts'
import { endingOf, mayRetry, RetryBudget } from '../policy/retry.ts'
import type { Instance } from '../upstream/instance.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { Attempt, type AttemptHost } from './attempt.ts'
import type { DeadLetters, UndeliveredCall } from './dead-letters.ts'

/**
 * Sends calls to the instances of one server: chooses a healthy one, and retries on another one if it is
 * certain that the call is not carried out twice.
 */
export class Dispatch implements AttemptHost {
  readonly clock: Clock
  readonly #upstream: Upstream
  readonly #deadLetters: DeadLetters
  readonly #random: () => number
  #options: UpstreamOptions
  #balancer: Balancer<Instance>
  readonly #outliers: OutlierDetection
  #retries: RetryBudget
  /** The instances that hold the sessions of callers, for session-based servers. */
  readonly #sessions = new WeakMap<ServerSession, Instance>()
  #checkedAt = 0

  constructor(
    upstream: Upstream,
    clock: Clock,
    deadLetters: DeadLetters,
    random: () => number = Math.random,
  ) {
    this.#upstream = upstream
    this.#deadLetters = deadLetters
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
    return this.#outliers.why(instance)
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
    const healthy = ready.filter(one => !this.#outliers.isEjected(one))
    return this.#balancer(healthy.length > 0 ? healthy : ready, call.hashKey)
  }

  #isOpen(instance: Instance): boolean {
    return instance.isReady && this.#upstream.isKnown(instance)
  }

  /**
   * Waits until `deadline` for an instance that is being started or is on trial; rejects if there is none.
   * An instance that was tried is taken if there is no other, or if it has been restarted. If no instance
   * takes calls, one call per `breakerPanicMs` goes to an instance whose breaker is open.
   */
  async whenAvailable(
    call: UpstreamCall,
    begunAt: number,
    deadline = Number.POSITIVE_INFINITY,
  ): Promise<Instance> {
    this.#upstream.use()
    const candidates = call.pinned === undefined ? this.#upstream.instances : [call.pinned]
    for (;;) {
      const instance =
        this.choose(call, undefined) ??
        candidates.find(one => this.#upstream.isKnown(one) && one.mayProbe())
      if (instance !== undefined) return instance
      const until = Math.min(deadline, begunAt + this.#waitMs(candidates))
      const remainingMs = until - this.clock.now()
      if (remainingMs <= 0) throw this.unavailable()
      await abortable(this.#upstream.nextReady(remainingMs), call.abort.signal)
    }
  }

  /** How long a call waits for one of the candidates, none of which takes it now. */
  #waitMs(candidates: readonly Instance[]): number {
    // Shorter once the first start has failed.
    if (candidates.some(isStarting)) return this.#upstream.waitMs
    return candidates.some(({ isOnTrial }) => isOnTrial) ? limits.breakerPanicMs.default : 0
  }

  /** Makes the error that says why the server takes no calls, and when to try again. */
  unavailable(why?: string): Error {
    const { name, instances, unavailableReason } = this.#upstream
    const waits = instances.map(one => one.retryInMs ?? one.availability.unavailableMs)
    const retryAfterMs = Math.min(...waits.filter(ms => ms > 0))
    const reason = why ?? unavailableReason ?? instances.find(isUnavailable)?.unavailableReason
    const isComing = instances.some(isStarting)
    const soon = isComing ? limits.startingRetryMs.default : undefined
    const wait = Number.isFinite(retryAfterMs) ? retryAfterMs : soon
    return unavailable(name, reason ?? 'it takes no calls', wait)
  }

  undelivered(call: UpstreamCall, error: unknown): void {
    this.#deadLetters.add(this.name, undeliveredFrom(call), error)
  }

  bindSession(session: ServerSession | undefined, instance: Instance): void {
    if (session === undefined || this.#upstream.instances.length === 1) return
    if (this.#sessions.get(session) !== instance) this.#sessions.set(session, instance)
  }

  deadlineOf({ timeoutMs, queuedMs }: UpstreamCall): number | undefined {
    const serverMs = this.#options.timeoutMs ?? limits.upstreamCallMs.default
    const isShorter = timeoutMs > 0 && (serverMs === 0 || timeoutMs < serverMs)
    return isShorter ? this.clock.now() + timeoutMs - queuedMs : undefined
  }

  mayRetry(
    call: UpstreamCall,
    error: unknown,
    attempt: number,
    tried: ReadonlySet<Instance>,
  ): boolean {
    const { abort, pinned, safety } = call
    const { attempts } = this.#retries
    if (attempts === 1 || abort.signal.aborted || pinned !== undefined) return false
    const { instances } = this.#upstream
    const fault = instanceFaultOf(error)
    // A call that found no connection costs its server nothing. It waits for one, or goes elsewhere.
    if (fault === 'unsent' && attempt < limits.unsentAttempts.default) {
      if (instances.every(one => !tried.has(one) || !one.isReady)) return true
    }
    if (attempt >= attempts || fault === 'credentials') return false
    // An instance that refused the call with a status would do so again.
    const isRefused = rootCause(error).status !== undefined
    if (isRefused && !instances.some(one => one.isReady && !tried.has(one))) return false
    const { outcome, wasSent } = endingOf(error)
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
    this.#outliers.check(this.#upstream.instances.map(observed))
  }
}

/** Returns what a dead letter says of a call. */
export function undeliveredFrom({ request, method, tool, caller }: UpstreamCall): UndeliveredCall {
  const { params } = request
  return { method, name: tool ?? nameIn(method, params), caller, params }
}

/** Returns what outlier detection needs to know of an instance. Before a restart it knows nothing of it. */
function observed({ load, restarts, first }: Instance): ObservedInstance {
  const { key, errorRate, latencyMs } = load
  const recent = first === undefined ? 0 : load.recent
  const recovered = (inMs: number): void => load.recovered(inMs)
  return { key, restarts, recent, errorRate, latencyMs, recovered }
}

function isUnavailable({ unavailableReason }: Instance): boolean {
  return unavailableReason !== undefined
}

function isStarting({ state, availability }: Instance): boolean {
  if (state === 'starting' || state === 'waiting') return true
  return state === 'ready' && availability.unavailableMs === 0
}
