import { limits } from '../limits/limits.ts'
import { backgroundDeadlines, type Deadlines, timed } from '../time/deadline.ts'

/** A request in flight, with the bytes that it takes of a budget; 0 if it takes none. */
export interface BudgetedRequest {
  cost: number
}

/**
 * The memory that the requests of one listener take while they are in flight. A request that alone
 * exceeds it is admitted while there is no other.
 */
export class RequestBudget {
  readonly max: number
  readonly #deadlines: Deadlines
  #used = 0

  constructor(max = limits.requestBytes.default, deadlines = backgroundDeadlines(undefined)) {
    this.max = max
    this.#deadlines = deadlines
  }

  /** The bytes that are taken. */
  get used(): number {
    return this.#used
  }

  /** Takes bytes for a request that has none. Returns false if there are not enough. */
  take(request: BudgetedRequest, cost: number): boolean {
    if (this.#used > 0 && this.#used + cost > this.max) return false
    this.#used += cost
    request.cost = cost
    return true
  }

  /** Gives back what a request took, because its handler has finished. Idempotent. */
  release(request: BudgetedRequest): void {
    this.#used -= request.cost
    request.cost = 0
  }

  /**
   * Gives back what a request took that was cancelled: at once if that is little, otherwise at the latest
   * after a while. Its handler may go on and still need the memory; one that never finishes must not
   * take it forever.
   */
  abandon(request: BudgetedRequest): void {
    if (request.cost <= limits.uncountedBytes.default) this.release(request)
    else {
      this.#deadlines.start(
        timed(() => this.release(request)),
        limits.abandonedRequestMs.default,
      )
    }
  }
}
