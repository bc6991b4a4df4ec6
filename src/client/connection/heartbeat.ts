import { ChannelError } from '../../jsonrpc/channel.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { PeriodicCheck } from '../../util/time/periodic-check.ts'
import { isTimeout } from '../errors.ts'
import type { Settings } from '../settings.ts'
import type { Negotiated } from './negotiate.ts'

/**
 * Pings the server of a session at an interval. If no response arrives in time, the heartbeat reports the
 * timeout to `onError` and marks the connection as lost. An error response counts as alive.
 */
export class Heartbeat {
  readonly #settings: Settings
  readonly #check: PeriodicCheck
  #opened: Negotiated | undefined

  constructor(settings: Settings) {
    this.#settings = settings
    this.#check = new PeriodicCheck(
      settings.heartbeat.everyMs,
      () => this.#beat(),
      settings.deadlines,
    )
  }

  /** Starts pinging on a connection, instead of the one before. */
  begin(opened: Negotiated): void {
    this.end()
    // Revisions without ping have no state either that would be lost with a connection.
    if (opened.server.revision.features.liveness !== 'ping') return
    this.#opened = opened
    this.#check.start()
  }

  /** Stops pinging. Idempotent. */
  end(): void {
    this.#opened = undefined
    this.#check.stop()
  }

  async #beat(): Promise<void> {
    const opened = this.#opened
    if (opened === undefined || !opened.connection.isOpen) return this.#check.stop()
    const { heartbeat, onError } = this.#settings
    try {
      await opened.connection.call('ping', undefined, { timeoutMs: heartbeat.waitMs })
    } catch (cause) {
      if (this.#opened !== opened || cause instanceof RpcError) return
      // A ping that has a stream of its own and could not be sent says nothing about other requests.
      if (opened.connection.hasStreams && !isTimeout(cause)) return
      this.#check.stop()
      const lost = new ChannelError('timeout', 'ping: the server does not respond', { cause })
      onError(lost)
      opened.connection.lose(lost)
    }
  }
}
