import { MiB } from '../../util/limits/limit.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Clock } from '../../util/time/clock.ts'
import { Warning } from '../../util/warning.ts'
import type { Reserve } from './node-reserve.ts'

/** What `DiskRoom` needs. */
export interface DiskRoomOptions {
  /** The name of the backplane, for messages. */
  readonly name: string
  readonly reserve: Reserve
  readonly clock: Clock
  readonly onWarning: (warning: Error) => void
}

/**
 * Whether there is room on the disk. When it is full, the reserve is released, because even deleting needs some space,
 * and nothing more is stored until the reserve can be restored.
 */
export class DiskRoom {
  readonly #options: DiskRoomOptions
  #isFull = false
  #nextCheck = 0

  constructor(options: DiskRoomOptions) {
    this.#options = options
    if (!options.reserve.restore()) this.runOut()
  }

  /** Returns whether more data can be stored. */
  get isThere(): boolean {
    const { clock, reserve } = this.#options
    if (!this.#isFull) return true
    if (clock.now() < this.#nextCheck) return false
    this.#isFull = !reserve.restore()
    this.#scheduleCheck()
    return !this.#isFull
  }

  /** Called when the disk is full. */
  runOut(): void {
    const { name, reserve, onWarning } = this.#options
    reserve.release()
    if (this.#isFull) return
    this.#isFull = true
    this.#scheduleCheck()
    const size = (limits.sqliteReserveBytes.default * 1.5) / MiB
    onWarning(
      new Warning(`the disk of ${name} is full; it stores nothing more until ${size} MiB are free`),
    )
  }

  #scheduleCheck(): void {
    this.#nextCheck = this.#options.clock.now() + limits.sqliteRoomCheckMs.default
  }
}
