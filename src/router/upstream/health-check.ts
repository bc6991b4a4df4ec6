import { isOutage } from '../../client/errors.ts'
import { ChannelError } from '../../jsonrpc/channel.ts'
import { outsideTraces } from '../../mcp/trace-context.ts'
import { rootCause } from '../../util/error-cause.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Deadlines } from '../../util/time/deadline.ts'
import { PeriodicCheck } from '../../util/time/periodic-check.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import type { HealthOptions } from '../options.ts'
import { instanceFaultOf } from '../policy/fault.ts'

/** Where the results of a health check go. */
export interface HealthCheckHost {
  /** The number of messages that the server has sent so far, on any of its connections. */
  received(): number
  /** The server has missed a check. Called for the first of several in a row. */
  onMissed(): void
  /** The server answers again after a missed check. */
  onRecovered(): void
  /** The server has missed `failures` checks in a row. Called once. */
  onDead(): void
  /** The server cannot be reached, because it has stopped listening. It is not checked any more. */
  onAway(cause: ChannelError): void
}

/**
 * Checks periodically whether a server responds. Any message shows that it does: a response, an error,
 * progress, a notification. A request is sent only if no message has arrived since the last check, so a
 * server that is busy with calls and answers them gets none.
 */
export class HealthCheck {
  readonly #connection: UpstreamConnection
  readonly #options: Required<HealthOptions>
  readonly #host: HealthCheckHost
  readonly #check: PeriodicCheck
  #misses = 0
  #received = 0

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
    this.#received = host.received()
    const check = (): Promise<void> => outsideTraces(() => this.#ping())
    this.#check = new PeriodicCheck(this.#options.intervalMs, check, deadlines)
    this.#check.start()
  }

  stop(): void {
    this.#check.stop()
  }

  /** Checks that the server has missed in a row. */
  get misses(): number {
    return this.#misses
  }

  async #ping(): Promise<void> {
    const before = this.#misses
    const received = this.#host.received()
    if (received !== this.#received || (await this.#responds())) this.#misses = 0
    this.#received = this.#host.received()
    // A message that arrived meanwhile is as good as the response.
    if (this.#received !== received) this.#misses = 0
    if (!this.#check.isRunning) return
    if (before > 0 && this.#misses === 0) this.#host.onRecovered()
    if (before === 0 && this.#misses > 0) this.#host.onMissed()
    if (this.#misses < this.#options.failures) return
    this.stop()
    this.#host.onDead()
  }

  /** Sends a request to the server, and counts a miss if it does not respond. Returns whether it does. */
  async #responds(): Promise<boolean> {
    const failure = await livenessFailure(this.#connection, this.#options.timeoutMs)
    if (failure === undefined) return true
    const fault = instanceFaultOf(failure)
    if (fault === 'unsent') {
      this.stop()
      this.#host.onAway(failure)
      // A check that this machine could not send says nothing about the server.
    } else if (fault !== 'shortage' && fault !== 'none') this.#misses++
    return false
  }
}

/**
 * Sends a request to a server. Returns undefined if it responds, with an error as well, or else the reason
 * why there is no response. Never rejects.
 */
export async function livenessFailure(
  { client }: UpstreamConnection,
  timeoutMs: number,
): Promise<ChannelError | undefined> {
  const method = client.server.revision.features.liveness
  try {
    await client.request(method, undefined, { timeoutMs, fresh: true })
    return undefined
  } catch (error) {
    // A server that limits the rate of requests is there.
    return isOutage(error) && rootCause(error).status !== 429 ? error : undefined
  }
}

/** Cuts a connection that misses its health checks. Returns a function that stops the checks. */
export function watchHealth(
  connection: UpstreamConnection,
  options: HealthOptions,
  deadlines: Deadlines,
): () => void {
  const check = new HealthCheck(connection, options, deadlines, {
    received: () => connection.received,
    onMissed() {},
    onRecovered() {},
    onDead: () => connection.lose(new ChannelError('timeout', 'it does not respond any more')),
    onAway: cause => connection.lose(cause),
  })
  return () => check.stop()
}
