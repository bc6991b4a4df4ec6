import { readProgressToken } from '../../mcp/meta.ts'
import { limits } from '../../util/limits/limits.ts'
import { TokenBucket } from '../../util/time/token-bucket.ts'
import type { IncomingRequest } from '../request.ts'

/** Sends the progress of one request: strictly increasing, at a limited rate, until it is settled. */
export class ProgressReporter {
  readonly #request: IncomingRequest
  readonly #token: string | number | undefined
  readonly #bucket: TokenBucket
  #last = Number.NEGATIVE_INFINITY

  constructor(request: IncomingRequest, now?: () => number) {
    this.#request = request
    this.#token = readProgressToken(request.params)
    const { progressBurst, progressPerSecond } = limits
    this.#bucket = new TokenBucket(progressBurst.default, progressPerSecond.default, now)
  }

  /** Sends progress. Drops it where the caller gave no token, it does not increase, or comes too fast. */
  send(progress: number, total: number | undefined, message: string | undefined): void {
    const { exchange, caller } = this.#request
    if (this.#token === undefined || exchange.settled === true) return
    // Infinity and NaN can neither be written as JSON nor be ordered.
    if (!Number.isFinite(progress) || !(progress > this.#last)) return
    // Completion is always sent.
    if (!this.#bucket.take() && progress !== total) return
    this.#last = progress
    const sent = exchange.notify('notifications/progress', {
      progressToken: this.#token,
      progress,
      total: Number.isFinite(total) ? total : undefined,
      message: caller.revision.features.progressMessages ? message : undefined,
    })
    if (sent !== undefined) sent.then(undefined, () => {})
  }
}
