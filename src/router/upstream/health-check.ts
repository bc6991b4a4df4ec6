import { isOutage } from '../../client/errors.ts'
import { outsideTraces } from '../../mcp/trace-context.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Deadlines } from '../../util/time/deadline.ts'
import { PeriodicCheck } from '../../util/time/periodic-check.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import type { HealthOptions } from '../options.ts'

/** Where the results of a health check go. */
export interface HealthCheckHost {
  /** The server answers again after a missed check. */
  onRecovered(): void
  /** The server has missed `failures` checks in a row. Called once. */
  onDead(): void
}

/**
 * Checks periodically whether a server responds. Any response counts, an error included: only its absence
 * is a failure.
 */
export class HealthCheck {
  readonly #connection: UpstreamConnection
  readonly #options: Required<HealthOptions>
  readonly #host: HealthCheckHost
  readonly #check: PeriodicCheck
  #misses = 0

  constructor(
    connection: UpstreamConnection,
    options: HealthOptions,
    deadlines: Deadlines,
    host: HealthCheckHost,
  ) {
    this.#connection = connection
    this.#options = {
      intervalMs: options.intervalMs ?? limits.healthIntervalMs.default,
      timeoutMs: options.timeoutMs ?? limits.healthTimeoutMs.default,
      failures: options.failures ?? limits.healthFailures.default,
    }
    this.#host = host
    const check = (): Promise<void> => outsideTraces(() => this.#ping())
    this.#check = new PeriodicCheck(this.#options.intervalMs, check, deadlines)
    this.#check.start()
  }

  stop(): void {
    this.#check.stop()
  }

  async #ping(): Promise<void> {
    const { client } = this.#connection
    const { timeoutMs, failures } = this.#options
    const method = client.server.revision.features.liveness
    const before = this.#misses
    try {
      await client.request(method, undefined, { timeoutMs, fresh: true })
      this.#misses = 0
    } catch (error) {
      if (!isOutage(error)) this.#misses = 0
      // A check that was not sent because of too many requests says nothing about the server.
      else if (error.code !== 'too-many') this.#misses = before + 1
    }
    if (!this.#check.isRunning) return
    if (before > 0 && this.#misses === 0) this.#host.onRecovered()
    if (this.#misses < failures) return
    this.stop()
    this.#host.onDead()
  }
}
