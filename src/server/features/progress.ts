import { readProgressToken } from '../../mcp/meta.ts'
import { limits } from '../../util/limits/limits.ts'
import { Allowance } from '../../util/time/token-bucket.ts'
import type { ServerRequest } from '../request.ts'

/**
 * The progress of one request: strictly increasing, never so fast that it drowns the caller, and over
 * when the request is.
 */
export class Progress {
  readonly #request: ServerRequest
  readonly #token: string | number | undefined
  readonly #allowance: Allowance
  #last = Number.NEGATIVE_INFINITY

  constructor(request: ServerRequest, now?: () => number) {
    this.#request = request
    this.#token = readProgressToken(request.params)
    const { progressBurst, progressPerSecond } = limits
    this.#allowance = new Allowance(progressBurst.default, progressPerSecond.default, now)
  }

  tell(progress: number, total: number | undefined, message: string | undefined): void {
    const { exchange, caller } = this.#request
    if (this.#token === undefined || exchange.settled === true) return
    // What is no number has no place in JSON, nor between others.
    if (!Number.isFinite(progress) || !(progress > this.#last)) return
    // The end of the work is always told.
    if (!this.#allowance.take() && progress !== total) return
    this.#last = progress
    const told = exchange.notify('notifications/progress', {
      progressToken: this.#token,
      progress,
      total: Number.isFinite(total) ? total : undefined,
      message: caller.revision.features.progressMessages ? message : undefined,
    })
    if (told !== undefined) told.then(undefined, () => {})
  }
}
