import { isTimeout } from '../../client/errors.ts'
import { ChannelError } from '../../jsonrpc/channel.ts'
import type { Waiter } from '../../jsonrpc/peer/pending.ts'
import type { Session } from '../../server/core/session.ts'
import type { Clock } from '../../util/time/clock.ts'
import type { Lane } from '../connection/connection.ts'
import type { Call, Delivered } from '../forward/call.ts'
import { failureOf, isFault } from '../forward/errors.ts'
import { withTimeLeft } from '../forward/hop.ts'
import type { Instance } from '../upstream/instance.ts'

/** What delivering calls to one server takes. */
export interface DeliveryHost {
  readonly clock: Clock
  /** The name of the server. */
  readonly name: string
  /** Whether the caller waits for less than the server has: then that is over when it is over. */
  isHurried(call: Call): boolean
  /** The instance for a call, of those that it was not tried at. */
  choose(call: Call, tried: ReadonlySet<Instance> | undefined): Instance | undefined
  /** Waits for one that is on its way, until then at the latest; rejects where none is. */
  await(call: Call, until: number | undefined): Promise<Instance>
  /** Why no instance takes calls. */
  unavailable(): Error
  /** The session of a caller lives on at an instance from now on. */
  settle(session: Session | undefined, instance: Instance): void
  mayRetry(call: Call, error: unknown, attempt: number): boolean
}

/**
 * One call on its way to an instance, and to another one where it may be made again.
 *
 * It is told of the reply inside whatever brings it, and tells nobody before the end: there is one
 * promise for all of it, because a call costs little more than the promises that it takes.
 */
export class Delivery implements Waiter {
  readonly #host: DeliveryHost
  readonly #call: Call
  readonly #done: (delivered: Delivered) => void
  readonly #failed: (error: unknown) => void
  #attempt = 1
  #tried: Set<Instance> | undefined
  #instance: Instance | undefined
  #lane: Lane | undefined
  #ticket = 0
  #began = 0
  /** Until when the caller waits, where that is not what the server has for each attempt. */
  readonly #until: number | undefined

  constructor(
    host: DeliveryHost,
    call: Call,
    done: (delivered: Delivered) => void,
    failed: (error: unknown) => void,
  ) {
    this.#host = host
    this.#call = call
    this.#done = done
    this.#failed = failed
    const { timeoutMs, waitedMs = 0 } = call
    this.#until = host.isHurried(call) ? host.clock.now() + timeoutMs - waitedMs : undefined
  }

  /** To be called once. */
  begin(): void {
    const instance = this.#host.choose(this.#call, this.#tried)
    if (instance !== undefined) this.#beginAt(instance)
    else {
      this.#host.await(this.#call, this.#until).then(
        found => this.#beginAt(found),
        error => this.#failed(error),
      )
    }
  }

  #beginAt(instance: Instance): void {
    const { load, breaker, key } = instance
    const call = this.#call
    this.#ticket = breaker?.begin() ?? 1
    if (this.#ticket === 0) {
      this.#failed(this.#host.unavailable())
      return
    }
    load.begin()
    if (call.live !== undefined) {
      call.live.instance = key
      call.live.retries = this.#attempt - 1
    }
    this.#instance = instance
    this.#began = this.#host.clock.now()
    try {
      const lane = instance.lane(call)
      const heeding = lane instanceof Promise ? undefined : lane.heedLog(call.logLevel)
      if (lane instanceof Promise || heeding !== undefined) void this.#sendLater(lane)
      else this.#sendOn(lane)
    } catch (error) {
      this.reject(error)
    }
  }

  async #sendLater(opening: Lane | Promise<Lane>): Promise<void> {
    try {
      const lane = await opening
      await lane.heedLog(this.#call.logLevel)
      this.#sendOn(lane)
    } catch (error) {
      this.reject(error)
    }
  }

  #sendOn(lane: Lane): void {
    const { method, errand, abort, takesWritten } = this.#call
    const timeoutMs = this.#leftMs()
    // Whoever comes next on the way, such as another router, is told what is left.
    const params =
      this.#until === undefined ? this.#call.params : withTimeLeft(this.#call.params, timeoutMs)
    const { revision } = lane.server
    const sender = revision.era === 'stateless' ? this.#call.sender(revision) : undefined
    this.#lane = lane
    lane.start(this, method, params, errand, { abort, timeoutMs, sender, takesWritten })
  }

  resolve(result: unknown): void {
    const instance = this.#instance
    const lane = this.#lane
    if (instance === undefined || lane === undefined) return
    const { revision } = lane.server
    const now = this.#host.clock.now()
    instance.load.succeeded(now - this.#began, now)
    instance.breaker?.succeeded(this.#ticket)
    if (revision.era === 'session') this.#host.settle(this.#call.session, instance)
    this.#done({ result, from: { instance, lane, revision }, retries: this.#attempt - 1 })
  }

  reject(error: unknown): void {
    const instance = this.#instance
    if (instance === undefined) return
    this.#count(instance, error)
    this.#tried ??= new Set()
    this.#tried.add(instance)
    if (!this.#isTooLate(error) && this.#host.mayRetry(this.#call, error, this.#attempt)) {
      this.#attempt++
      this.begin()
    } else {
      this.#failed(failureOf(this.#host.name, error))
    }
  }

  #count({ load, breaker }: Instance, error: unknown): void {
    const tookMs = this.#host.clock.now() - this.#began
    if (this.#call.abort.signal.aborted || this.#isTooLate(error)) {
      load.abandoned()
      breaker?.abandoned(this.#ticket)
    } else if (isFault(error)) {
      load.failed(tookMs)
      breaker?.failed(this.#ticket)
    } else {
      load.succeeded(tookMs)
      breaker?.succeeded(this.#ticket)
    }
  }

  /** How long the server has for this attempt. Throws where the caller has stopped waiting. */
  #leftMs(): number {
    if (this.#until === undefined) return this.#call.timeoutMs
    const leftMs = this.#until - this.#host.clock.now()
    if (leftMs > 0) return leftMs
    throw new ChannelError('timeout', 'the caller did not wait for so long')
  }

  /** Whether the caller has stopped waiting, which says nothing about the server. */
  #isTooLate(error: unknown): boolean {
    return this.#until !== undefined && isTimeout(error)
  }
}
