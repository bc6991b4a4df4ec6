import { checked } from '../../util/in-range.ts'
import { limits } from '../../util/limits/limits.ts'
import type { RestartOptions } from '../options.ts'

/** Where time and chance come from. */
export interface RestartHost {
  /** Milliseconds that never go back. */
  readonly now: () => number
  /** A number from 0 (included) to 1 (not included). */
  readonly random: () => number
}

/**
 * Says when an instance that ended is started again, and when no more: after `most` restarts within
 * `withinMs` it is put away (quarantine) until `release`.
 *
 * The wait before a restart is anything from nothing to a limit, by chance, so that many instances
 * that ended together do not start together; the limit doubles from `minMs` to `maxMs`. `most` may be
 * `Infinity`, for what is worth trying for ever.
 */
export class RestartBudget {
  readonly #options: Required<RestartOptions>
  readonly #host: RestartHost
  /** When the last restarts were asked for, the oldest first; never more than `most`. */
  readonly #times: number[] = []
  #attempts = 0
  #upSince: number | undefined
  #isQuarantined = false

  /** Throws a RangeError for options out of range. */
  constructor(options: RestartOptions, host: RestartHost) {
    this.#options = settings(options)
    this.#host = host
  }

  /** Whether it is put away. */
  get isQuarantined(): boolean {
    return this.#isQuarantined
  }

  /** Why it is put away, in one line; empty while it is not. */
  get reason(): string {
    if (!this.#isQuarantined) return ''
    const { most, withinMs } = this.#options
    if (most === 0) return 'ended, and is not to be started again'
    const times = most === 1 ? 'once' : `${most} times`
    return `started again ${times} within ${withinMs / 1000} s and ended each time`
  }

  /** It has ended, or could not be started: when to start it again, or that it is put away. */
  next(): { readonly delayMs: number } | 'quarantine' {
    if (this.#isQuarantined) return 'quarantine'
    const now = this.#host.now()
    const wasUpMs = this.#upSince === undefined ? 0 : now - this.#upSince
    this.#upSince = undefined
    if (wasUpMs >= limits.restartSteadyMs.default) this.#attempts = 0
    if (this.#isTooOften(now)) {
      this.#isQuarantined = true
      return 'quarantine'
    }
    const { minMs, maxMs } = this.#options
    const limitMs = Math.min(maxMs, Math.max(1, minMs) * 2 ** this.#attempts++)
    return { delayMs: Math.floor(this.#host.random() * limitMs) }
  }

  /**
   * It is up. If it stays up for `restartSteadyMs` the waits begin from the shortest again; one that
   * ends right after each start waits ever longer.
   */
  succeeded(): void {
    this.#upSince = this.#host.now()
  }

  /** Somebody has looked after it: everything begins anew. */
  release(): void {
    this.#isQuarantined = false
    this.#times.length = 0
    this.#attempts = 0
    this.#upSince = undefined
  }

  #isTooOften(now: number): boolean {
    const { most, withinMs } = this.#options
    if (most === Number.POSITIVE_INFINITY) return false
    const times = this.#times
    while (times[0] !== undefined && now - times[0] >= withinMs) times.shift()
    if (times.length >= most) return true
    times.push(now)
    return false
  }
}

function settings(options: RestartOptions): Required<RestartOptions> {
  const most = options.most ?? limits.restarts.default
  const withinMs = options.withinMs ?? limits.restartWithinMs.default
  const minMs = options.minMs ?? limits.restartMinMs.default
  const maxMs = options.maxMs ?? limits.restartMaxMs.default
  // `Infinity` is no count, but it may be said; up to a thousand times can be remembered.
  if (most !== Number.POSITIVE_INFINITY) {
    checked('restart.most', most, { least: 0, most: 1000, whole: true })
  }
  checked('restart.withinMs', withinMs, { least: 1 })
  checked('restart.minMs', minMs, { least: 0 })
  checked('restart.maxMs', maxMs, { least: minMs })
  return { most, withinMs, minMs, maxMs }
}
