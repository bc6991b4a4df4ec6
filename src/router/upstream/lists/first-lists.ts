import { type ListKind, listKinds } from '../../../mcp/list-changes.ts'
import { type Deferred, deferred } from '../../../util/promises.ts'
import type { Clock, Timer } from '../../../util/time/clock.ts'

/**
 * The lists of a server that were never read, while its first connection is being opened. The first list of
 * a caller waits for them, so that it has the entries of all servers.
 */
export class FirstLists {
  readonly #clock: Clock
  readonly #pending = new Map<ListKind, Deferred<void>>(listKinds.map(kind => [kind, deferred()]))
  #timer: Timer | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Settles when a list was read, has failed, or is no longer waited for; undefined once that is so. */
  whenListed(kind: ListKind): Promise<void> | undefined {
    return this.#pending.get(kind)?.promise
  }

  /** Must be called when the first connection begins to be opened. All waits end after `waitMs`. */
  start(waitMs: number): void {
    if (this.#pending.size === 0 || this.#timer !== undefined) return
    this.#timer = this.#clock.start(() => this.end(), waitMs)
    this.#timer.unref()
  }

  /** Must be called when a list was read, or has failed. */
  listed(kind: ListKind): void {
    this.#pending.get(kind)?.resolve()
    this.#pending.delete(kind)
    if (this.#pending.size === 0) this.#stopTimer()
  }

  /** Ends all waiting. */
  end(): void {
    for (const kind of [...this.#pending.keys()]) this.listed(kind)
  }

  #stopTimer(): void {
    if (this.#timer !== undefined) this.#clock.stop(this.#timer)
  }
}
