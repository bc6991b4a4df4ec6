import { isOutage } from '../client/failures.ts'
import { type Deadlines, type Timed, timed } from '../util/deadline.ts'
import { limits } from '../util/limits.ts'
import type { Lane } from './lane.ts'
import type { HealthOptions } from './options.ts'

/**
 * Asks a server now and then whether it lives. Any answer will do, a refusal included: what counts is
 * that there is one. After so many misses in a row the owner is told, once.
 */
export class Health {
  readonly #lane: Lane
  readonly #options: Required<HealthOptions>
  readonly #deadlines: Deadlines
  readonly #onDead: () => void
  readonly #alarm: Timed
  #misses = 0
  #isOver = false

  constructor(lane: Lane, options: HealthOptions, deadlines: Deadlines, onDead: () => void) {
    this.#lane = lane
    this.#options = {
      everyMs: options.everyMs ?? limits.healthEveryMs.default,
      timeoutMs: options.timeoutMs ?? limits.healthTimeoutMs.default,
      failures: options.failures ?? limits.healthFailures.default,
    }
    this.#deadlines = deadlines
    this.#onDead = onDead
    this.#alarm = timed(() => void this.#look())
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
    try {
      await client.request(method, undefined, { timeoutMs, fresh: true })
      this.#misses = 0
    } catch (error) {
      this.#misses = isOutage(error) ? this.#misses + 1 : 0
    }
    if (this.#isOver) return
    if (this.#misses < failures) return this.#wait()
    this.stop()
    this.#onDead()
  }
}
