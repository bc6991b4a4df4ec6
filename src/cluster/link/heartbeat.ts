import type { Timer } from '../../util/time/clock.ts'
import type { LinkSettings } from './settings.ts'

/**
 * Pings the other node, and notices when nothing arrives any more.
 *
 * It counts intervals instead of milliseconds: a process that was stopped for a while finds what arrived meanwhile
 * before it gives up a link.
 */
export class LinkHeartbeat {
  readonly #settings: LinkSettings
  readonly #ping: (() => void) | undefined
  readonly #silent: () => void
  readonly #maxQuiet: number
  #quiet = 0
  #timer: Timer | undefined

  /** `ping` is called at each interval, on the side that sends pings. `silent` is called once. */
  constructor(settings: LinkSettings, ping: (() => void) | undefined, silent: () => void) {
    this.#settings = settings
    this.#ping = ping
    this.#silent = silent
    this.#maxQuiet = Math.ceil(settings.limits.silentMs / settings.limits.pingMs)
  }

  start(): void {
    const { clock, limits } = this.#settings
    this.#timer = clock.start(this.#tick, limits.pingMs)
    this.#timer.unref()
  }

  /** Something arrived. */
  heard(): void {
    this.#quiet = 0
  }

  /** Idempotent. */
  stop(): void {
    if (this.#timer !== undefined) this.#settings.clock.stop(this.#timer)
    this.#timer = undefined
  }

  #tick = (): void => {
    if (++this.#quiet > this.#maxQuiet) {
      this.#silent()
      return
    }
    this.start()
    this.#ping?.()
  }
}
