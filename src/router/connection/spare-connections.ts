import { limits } from '../../util/limits/limits.ts'
import { checkRange } from '../../util/range.ts'
import { backoffMs } from '../../util/time/backoff.ts'
import { type Deadlines, timed } from '../../util/time/deadline.ts'
import { PeriodicCheck } from '../../util/time/periodic-check.ts'
import type { PoolOptions } from '../options.ts'
import type { UpstreamConnection } from './connection.ts'

/** What spare connections need of their instance. */
export interface SpareConnectionsHost {
  readonly deadlines: Deadlines
  open(): Promise<UpstreamConnection>
  /** Checks the health of a connection, and cuts it when it is dead. Returns a function that stops it. */
  watch(connection: UpstreamConnection): () => void
}

/**
 * Connections to one instance that carry the same calls as its first connection: `min` of them, the first
 * included, are kept open, and up to `max` are opened while all are in use. One that is lost or does not
 * respond is replaced. Those beyond `min` that were not used for `upstreamIdleMs` are closed.
 */
export class SpareConnections {
  readonly #host: SpareConnectionsHost
  readonly #min: number
  readonly #max: number
  /** The messages received on each open connection when it was last looked at. */
  readonly #open = new Map<UpstreamConnection, number>()
  readonly #refill = timed(() => this.#fill())
  readonly #idle: PeriodicCheck
  #opening = 0
  #failures = 0
  #isRunning = false

  /** Throws a RangeError for options out of range. */
  constructor(
    { min = 1, max = Math.max(min, defaultMax) }: PoolOptions,
    host: SpareConnectionsHost,
  ) {
    this.#min = checkRange('pool.min', min, { min: 1, max: 1000, integer: true })
    this.#max = checkRange('pool.max', max, { min: this.#min, max: 1000, integer: true })
    this.#host = host
    const check = async (): Promise<void> => this.#closeIdle()
    this.#idle = new PeriodicCheck(limits.upstreamIdleMs.default, check, host.deadlines)
  }

  /** The connections that are open, besides the first. */
  get size(): number {
    return this.#open.size
  }

  /** Opens the spare connections, once the first one is open. */
  start(): void {
    this.#isRunning = true
    this.#idle.start()
    this.#fill()
  }

  /** Opens no more, and closes each connection when no call is in flight on it. */
  stop(): void {
    this.#isRunning = false
    this.#idle.stop()
    this.#host.deadlines.stop(this.#refill)
    for (const connection of this.#open.keys()) void this.#close(connection)
  }

  /** Closes all at once. Never rejects. */
  async close(cause: Error): Promise<void> {
    const all = [...this.#open.keys()]
    this.stop()
    for (const connection of all) connection.lose(cause)
    await Promise.all(all.map(connection => connection.close()))
  }

  /** Returns the connection with the fewest calls in flight; opens another one if all have some. */
  leastBusy(first: UpstreamConnection): UpstreamConnection {
    let least = first
    for (const connection of this.#open.keys()) {
      if (connection.isOpen && connection.inFlight < least.inFlight) least = connection
    }
    if (least.inFlight > 0 && this.#failures === 0 && this.#total < this.#max) void this.#add()
    return least
  }

  get #total(): number {
    return 1 + this.#open.size + this.#opening
  }

  #fill(): void {
    while (this.#isRunning && this.#total < this.#min) void this.#add()
  }

  async #add(): Promise<void> {
    if (!this.#isRunning) return
    this.#opening++
    try {
      const connection = await this.#host.open()
      this.#opening--
      this.#failures = 0
      this.#take(connection)
    } catch {
      // The instance is well, or else its first connection is lost too, which is reported there.
      this.#opening--
      this.#fillLater()
    }
  }

  #take(connection: UpstreamConnection): void {
    if (!this.#isRunning) {
      void connection.close()
      return
    }
    this.#open.set(connection, connection.received)
    const stopWatching = this.#host.watch(connection)
    void connection.lost.then(() => {
      stopWatching()
      this.#open.delete(connection)
      void connection.closeUnlessRetired()
      this.#fill()
    })
  }

  #fillLater(): void {
    if (!this.#isRunning) return
    const { deadlines } = this.#host
    const baseMs = limits.restartMinMs.default
    const maxMs = limits.restartMaxMs.default
    deadlines.stop(this.#refill)
    deadlines.start(this.#refill, backoffMs(this.#failures++, { baseMs, maxMs }))
  }

  #closeIdle(): void {
    for (const [connection, received] of this.#open) {
      const isIdle = connection.inFlight === 0 && connection.received === received
      if (isIdle && this.#total > this.#min) void this.#close(connection)
      else this.#open.set(connection, connection.received)
    }
  }

  async #close(connection: UpstreamConnection): Promise<void> {
    this.#open.delete(connection)
    await connection.closeWhenUnused(this.#host.deadlines)
  }
}

const defaultMax = limits.upstreamConnections.default + 1
