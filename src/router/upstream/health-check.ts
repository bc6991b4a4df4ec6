import { isOutage } from '../../client/errors.ts'
import { outsideTraces } from '../../mcp/trace-context.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Deadlines, type Timed, timed } from '../../util/time/deadline.ts'
import type { Lane } from '../connection/connection.ts'
import type { HealthOptions } from '../options.ts'

/** Who is told how a server does. */
export interface HealthHost {
  /** It answers again, after a miss. */
  onBack(): void
  /** It has given no sign so many times in a row; told once. */
  onDead(): void
}

/**
 * Asks a server now and then whether it lives. Any answer will do, a refusal included: what counts is
 * that there is one.
 */
export class Health {
  readonly #lane: Lane
  readonly #options: Required<HealthOptions>
  readonly #deadlines: Deadlines
  readonly #host: HealthHost
  readonly #alarm: Timed
  #misses = 0
  #isOver = false

  constructor(lane: Lane, options: HealthOptions, deadlines: Deadlines, host: HealthHost) {
    this.#lane = lane
    this.#options = {
      everyMs: options.everyMs ?? limits.healthEveryMs.default,
      timeoutMs: options.timeoutMs ?? limits.healthTimeoutMs.default,
      failures: options.failures ?? limits.healthFailures.default,
    }
    this.#deadlines = deadlines
    this.#host = host
    this.#alarm = timed(() => void outsideTraces(() => this.#look()))
    this.#wait()
  }

  stop(): void {
    this.#isOver = true
    this.#deadlines.stop(this.#alarm)
  }

  #wait(): void {
    if (this.#options.everyMs > 0) this.#deadlines.start(this.#alarm, this.#options.everyMs)
  }

  async #look(): Promise<void> {
    const { client } = this.#lane
    const { timeoutMs, failures } = this.#options
    const method = client.server.revision.era === 'session' ? 'ping' : 'server/discover'
    const before = this.#misses
    try {
      await client.request(method, undefined, { timeoutMs, fresh: true })
      this.#misses = 0
    } catch (error) {
      if (!isOutage(error)) this.#misses = 0
      // Where it has so much to do that not even this could be asked, nothing was learned.
      else if (error.code !== 'too-many') this.#misses = before + 1
    }
    if (this.#isOver) return
    if (before > 0 && this.#misses === 0) this.#host.onBack()
    if (this.#misses < failures) return this.#wait()
    this.stop()
    this.#host.onDead()
  }
}
