import type { RpcError } from '../../jsonrpc/error.ts'
import type { Clock, Timer } from '../../util/time/clock.ts'
import type { Call } from '../forward/call.ts'

/**
 * The wait of one call for its turn, which ends when its caller gives it up, or when there is no time
 * left: then `late` says what the caller is told.
 */
export class Wait {
  /** The limit that it waits at. */
  at = ''
  readonly #clock: Clock
  readonly #since: number
  readonly #ending = new AbortController()
  readonly #timer: Timer | undefined
  readonly #given: AbortSignal

  constructor(
    { abort, timeoutMs }: Pick<Call, 'abort' | 'timeoutMs'>,
    clock: Clock,
    late: (limit: string) => RpcError,
  ) {
    this.#clock = clock
    this.#since = clock.now()
    this.#given = abort.signal
    this.#given.addEventListener('abort', this.#onGivenUp, { once: true })
    if (this.#given.aborted) this.#onGivenUp()
    if (timeoutMs > 0) {
      this.#timer = clock.start(() => this.#ending.abort(late(this.at)), timeoutMs)
    }
  }

  /** Aborts when there is nothing to wait for any more. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  /** It is over; how long it was. */
  end(): number {
    if (this.#timer !== undefined) this.#clock.stop(this.#timer)
    this.#given.removeEventListener('abort', this.#onGivenUp)
    return this.#clock.now() - this.#since
  }

  #onGivenUp = (): void => this.#ending.abort(this.#given.reason)
}
