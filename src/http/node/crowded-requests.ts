import type { HeldBytes } from '../../util/sockets/held-bytes.ts'
import type { HttpHandler, HttpReply, HttpRequest } from '../exchange.ts'

/**
 * Handles the requests of a listener that holds much for its clients. Many large responses made in one
 * turn of the event loop would all be in memory together: the system frees those of disconnected clients
 * only after the turn. So a turn ends after a response that clients leave unread.
 */
export class CrowdedRequests {
  readonly #held: HeldBytes
  #waiting: (() => void)[] = []

  constructor(held: HeldBytes) {
    this.#held = held
  }

  /** Handles a request, later if the listener holds much. */
  handle(service: Pick<HttpHandler, 'handle'>, request: HttpRequest, reply: HttpReply): void {
    if (!this.#held.isCrowded && this.#waiting.length === 0) {
      service.handle(request, reply)
      return
    }
    const run = (): void => {
      if (!reply.isFinished) service.handle(request, reply)
    }
    if (this.#waiting.push(run) === 1) setImmediate(this.#run)
  }

  readonly #run = (): void => {
    const waiting = this.#waiting.splice(0, maxPerTurn)
    const { total } = this.#held
    while (waiting.length > 0 && this.#held.total <= total) waiting.shift()?.()
    this.#waiting.unshift(...waiting)
    if (this.#waiting.length > 0) setImmediate(this.#run)
  }
}

/** Some responses are made after their turn, so that not all of their sizes are known in it. */
const maxPerTurn = 4
