import { errors } from '../../mcp/errors/constructors.ts'
import type { Clock } from '../../util/time/clock.ts'

const minuteMs = 60_000

/** How often a server may ask for the same kind of thing: so many times within any minute. */
export class Pace {
  readonly #most: number
  readonly #clock: Clock
  readonly #times = new Map<string, number[]>()

  constructor(mostPerMinute: number, clock: Clock) {
    this.#most = mostPerMinute
    this.#clock = clock
  }

  /** Counts one more question. Throws the RpcError that refuses it if it is one too many. */
  count(method: string): void {
    const now = this.#clock.now()
    const recent = (this.#times.get(method) ?? []).filter(at => now - at < minuteMs)
    this.#times.set(method, recent)
    if (recent.length >= this.#most) {
      const [first = now] = recent
      throw errors.rateLimited({ retryAfterMs: Math.ceil(first + minuteMs - now) })
    }
    recent.push(now)
  }
}
