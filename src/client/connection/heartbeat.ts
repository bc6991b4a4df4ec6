import { ChannelError } from '../../jsonrpc/channel.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { timed } from '../../util/time/deadline.ts'
import type { Settings } from '../settings.ts'
import type { Opened } from './negotiate.ts'

/**
 * Asks the server of a session for a sign of life now and then. One that gives none in time counts as
 * lost, which is reported; any answer, be it an error, is a sign.
 */
export class Heartbeat {
  readonly #settings: Settings
  readonly #alarm = timed(() => void this.#beat())
  #opened: Opened | undefined

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** Begins with a connection, or goes on with the one that took its place. */
  begin(opened: Opened): void {
    this.end()
    // Stateless revisions have no ping, and nothing that would be lost with a connection.
    if (opened.server.revision.era === 'stateless') return
    this.#opened = opened
    this.#wait()
  }

  end(): void {
    this.#opened = undefined
    this.#settings.deadlines.stop(this.#alarm)
  }

  #wait(): void {
    const { everyMs } = this.#settings.heartbeat
    if (everyMs > 0) this.#settings.deadlines.start(this.#alarm, everyMs)
  }

  async #beat(): Promise<void> {
    const opened = this.#opened
    if (opened === undefined || !opened.link.isOpen) return
    const { heartbeat, onError } = this.#settings
    try {
      await opened.link.call('ping', undefined, { timeoutMs: heartbeat.waitMs })
    } catch (cause) {
      if (this.#opened !== opened) return
      if (!(cause instanceof RpcError)) {
        const lost = new ChannelError('timeout', 'ping: the server gives no sign of life', {
          cause,
        })
        onError(lost)
        opened.link.lose(lost)
        return
      }
    }
    if (this.#opened === opened) this.#wait()
  }
}
