import { abortable } from '../../util/promises.ts'

interface Flight<T> {
  readonly outcome: Promise<T>
  readonly controller: AbortController
  waiting: number
}

/**
 * Runs one piece of work for all callers that need its result at the same time. Each may give up on its own; the
 * work is aborted when the last one has.
 */
export class SingleFlight<T> {
  #current: Flight<T> | undefined

  /** Whether work is in progress. */
  get isActive(): boolean {
    return this.#current !== undefined
  }

  /** Starts `work`, or joins the work in progress, and settles with its outcome or the reason of the signal. */
  async run(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    const flight = this.#current ?? this.#start(work)
    flight.waiting++
    try {
      return await abortable(flight.outcome, signal)
    } finally {
      if (--flight.waiting === 0) flight.controller.abort(signal?.reason)
    }
  }

  #start(work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController()
    const outcome = work(controller.signal)
    const flight: Flight<T> = { outcome, controller, waiting: 0 }
    this.#current = flight
    const end = () => {
      if (this.#current === flight) this.#current = undefined
    }
    outcome.then(end, end)
    // Nobody takes part in work that has been given up.
    controller.signal.addEventListener('abort', end)
    return flight
  }
}
