import type { Id } from '../../jsonrpc/message.ts'
import type { ProgressToken } from '../../mcp/types/base.ts'
import { isRecord } from '../../util/objects.ts'
import { randomToken } from '../../util/random.ts'

/** The progress of a call. `progress` grows from one report to the next. */
export interface Progress {
  /** How far the call is, in units of the server. It increases with each report. */
  readonly progress: number
  /** The value of `progress` at the end, if the server knows it. */
  readonly total?: number
  /** What the server is doing, for people. */
  readonly message?: string
}

/** The progress handlers of calls in flight, by progress token. */
export class ProgressHandlers {
  readonly #calls = new Map<ProgressToken, Watched>()
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /**
   * Registers a handler and returns its token, which is never used again. The token is random: calls of
   * several callers share a connection, and none of them may report progress for another one.
   */
  watch(onProgress: (progress: Progress) => void): ProgressToken {
    const token = randomToken()
    this.#calls.set(token, { onProgress, latest: Number.NEGATIVE_INFINITY, id: undefined })
    return token
  }

  /** From now on, progress that arrives on the stream of a request must be on that of the request with this id. */
  bind(token: ProgressToken, id: Id | undefined): void {
    const call = this.#calls.get(token)
    if (call !== undefined) call.id = id
  }

  /** Removes a handler. */
  unwatch(token: ProgressToken): void {
    this.#calls.delete(token)
  }

  /**
   * Handles a notification. It is dropped if `progress` has not grown, because it must not extend a timeout,
   * and if it arrived on the stream of another request, `about`. Servers of session-based revisions may also
   * send it on the stream that belongs to no request.
   */
  onNotification(params: unknown, about?: Id): void {
    if (!isRecord(params) || typeof params.progress !== 'number') return
    const { progressToken, progress, total, message } = params
    // The check: any other value is not a key of the map.
    const call = this.#calls.get(progressToken as ProgressToken)
    if (call === undefined || !(progress > call.latest)) return
    if (about !== undefined && call.id !== undefined && about !== call.id) return
    call.latest = progress
    try {
      call.onProgress({
        progress,
        total: typeof total === 'number' ? total : undefined,
        message: typeof message === 'string' ? message : undefined,
      })
    } catch (error) {
      this.#onError(error)
    }
  }
}

interface Watched {
  readonly onProgress: (progress: Progress) => void
  latest: number
  /** The request that the handler belongs to; undefined if progress may arrive on the stream of any request. */
  id: Id | undefined
}
