/**
 * Lets so many calls through at one time, and keeps so many waiting for their turn.
 *
 * A call is admitted (`admit`, only while the gate is not full), enters, at once or later (`enter`),
 * and leaves (`leave`). One that was admitted and will not enter withdraws (`withdraw`). Who waits
 * gets in first come, first served, but caller by caller: one with many calls waiting gets one in,
 * then the next caller does.
 */
export class Gate {
  readonly #concurrent: number
  readonly #places: number
  /** Those that wait, by caller. The order of the map is whose turn it is. */
  readonly #queues = new Map<string, Set<Waiting>>()
  #admitted = 0
  #running = 0
  #waiting = 0

  constructor(concurrent: number, queue: number) {
    this.#concurrent = concurrent
    this.#places = concurrent + queue
  }

  /** Calls that have entered and not left. */
  get running(): number {
    return this.#running
  }

  /** Calls that wait to enter. */
  get waiting(): number {
    return this.#waiting
  }

  /** Whether a call that was admitted enters without waiting. */
  get hasRoom(): boolean {
    return this.#running < this.#concurrent
  }

  /** Whether no further call can be admitted. */
  get isFull(): boolean {
    return this.#admitted >= this.#places
  }

  /** Gives a call a place, inside or in the queue. */
  admit(): void {
    this.#admitted++
  }

  /**
   * Enters with a call that was admitted: at once, or when the promise resolves. It rejects with the
   * reason of the signal if that aborts before; the call has withdrawn then.
   */
  enter(caller: string, signal?: AbortSignal): Promise<void> | undefined {
    if (this.hasRoom) {
      this.#running++
      return undefined
    }
    if (signal?.aborted === true) {
      this.withdraw()
      return Promise.reject(signal.reason)
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#remove(caller, waiting)
        this.withdraw()
        reject(signal?.reason)
      }
      const waiting: Waiting = {
        enter: () => {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        },
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#add(caller, waiting)
    })
  }

  /** Ends a call that has entered; the next one that waits takes its place. */
  leave(): void {
    this.#admitted--
    this.#running--
    const [next] = this.#queues
    if (next === undefined) return
    const [caller, queue] = next
    const [waiting] = queue
    if (waiting === undefined) return
    this.#remove(caller, waiting)
    // To the end, so that every other caller who waits comes before this one's next call.
    if (this.#queues.delete(caller)) this.#queues.set(caller, queue)
    this.#running++
    waiting.enter()
  }

  /** Ends a call that was admitted and has not entered. */
  withdraw(): void {
    this.#admitted--
  }

  #add(caller: string, waiting: Waiting): void {
    const queue = this.#queues.get(caller)
    if (queue === undefined) this.#queues.set(caller, new Set([waiting]))
    else queue.add(waiting)
    this.#waiting++
  }

  #remove(caller: string, waiting: Waiting): void {
    const queue = this.#queues.get(caller)
    queue?.delete(waiting)
    if (queue?.size === 0) this.#queues.delete(caller)
    this.#waiting--
  }
}

interface Waiting {
  readonly enter: () => void
}
