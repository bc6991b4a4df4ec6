import { errors } from '../../mcp/errors/constructors.ts'
import type { Clock } from '../../util/time/clock.ts'
import { SlidingWindow } from '../../util/time/sliding-window.ts'

const minuteMs = 60_000

/** Limits the server requests of each method to a number within any minute (sliding window). */
export class ServerRequestRate {
  readonly #max: number
  readonly #clock: Clock
  readonly #byMethod = new Map<string, SlidingWindow>()

  constructor(maxPerMinute: number, clock: Clock) {
    this.#max = maxPerMinute
    this.#clock = clock
  }

  /** Counts a server request. Throws the RpcError that refuses it if the limit is exceeded. */
  count(method: string): void {
    const now = this.#clock.now()
    const recent = this.#byMethod.get(method) ?? new SlidingWindow(this.#max, minuteMs)
    this.#byMethod.set(method, recent)
    if (recent.add(now)) return
    throw errors.rateLimited({ retryAfterMs: Math.ceil(recent.waitMs(now)) })
  }
}
