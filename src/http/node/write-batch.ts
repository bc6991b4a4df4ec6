/** A response, or a part of one, that is ready to be written. */
export interface Flushable {
  /** Writes it to its socket. Never throws. */
  flush(): void
}

/**
 * Defers the writes of one turn of the event loop to the end of that turn, in order.
 *
 * Each write to a socket wakes the process that reads at the other end, which costs as much as handling
 * a request; of writes that closely follow each other only the first one does. With 32 connections to
 * one client, batching saves a third of the CPU time on both sides. A single response is not delayed,
 * because the turn ends with it.
 */
export class WriteBatch {
  #waiting: Flushable[] = []

  add(item: Flushable): void {
    if (this.#waiting.push(item) === 1) atEndOfTurn(this.flush)
  }

  /** Writes everything that is queued. */
  readonly flush = (): void => {
    const waiting = this.#waiting
    this.#waiting = []
    for (const item of waiting) item.flush()
  }
}

/** The batch of this process, which has one event loop. */
export const writeBatch = new WriteBatch()

// Some runtimes that implement fetch have no `setImmediate`.
const atEndOfTurn: (run: () => void) => void =
  typeof setImmediate === 'function' ? setImmediate : queueMicrotask
