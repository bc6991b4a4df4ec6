import { readProgressToken } from '../mcp/meta.ts'
import { limits } from '../util/limits.ts'
import type { ServerRequest } from './request.ts'

const PER_SECOND = 20

/** The progress of one request: strictly increasing, and never so fast that it drowns the caller. */
export class Progress {
  readonly #request: ServerRequest
  readonly #token: string | number | undefined
  #last = Number.NEGATIVE_INFINITY
  #allowance: number = limits.progressBurst.default
  #at = performance.now()

  constructor(request: ServerRequest) {
    this.#request = request
    this.#token = readProgressToken(request.params)
  }

  tell(progress: number, total: number | undefined, message: string | undefined): void {
    if (this.#token === undefined || !(progress > this.#last)) return
    // The end of the work is always told.
    if (!this.#mayTell() && progress !== total) return
    this.#last = progress
    const { exchange, caller } = this.#request
    const words = caller.revision.features.progressMessages ? message : undefined
    const told = exchange.notify('notifications/progress', {
      progressToken: this.#token,
      progress,
      total,
      message: words,
    })
    if (told !== undefined) told.then(undefined, () => {})
  }

  #mayTell(): boolean {
    const now = performance.now()
    const gained = ((now - this.#at) / 1000) * PER_SECOND
    this.#at = now
    this.#allowance = Math.min(limits.progressBurst.default, this.#allowance + gained)
    if (this.#allowance < 1) return false
    this.#allowance--
    return true
  }
}
