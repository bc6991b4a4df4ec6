import type { ProgressToken } from '../../mcp/types/base.ts'
import { isRecord } from '../../util/objects.ts'

/** The progress of a call. `progress` grows from one report to the next. */
export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** The progress handlers of calls in flight, by progress token. */
export class ProgressHandlers {
  readonly #calls = new Map<ProgressToken, Watched>()
  readonly #onError: (error: unknown) => void
  #last = 0

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** Registers a handler and returns its token, which is never used again. */
  watch(onProgress: (progress: Progress) => void): ProgressToken {
    const token = ++this.#last
    this.#calls.set(token, { onProgress, latest: Number.NEGATIVE_INFINITY })
    return token
  }

  /** Removes a handler. */
  unwatch(token: ProgressToken): void {
    this.#calls.delete(token)
  }

  /** Handles a notification. It is dropped if `progress` has not grown: it must not extend a timeout. */
  onNotification(params: unknown): void {
    if (!isRecord(params) || typeof params.progress !== 'number') return
    const { progressToken, progress, total, message } = params
    // The check: any other value is not a key of the map.
    const call = this.#calls.get(progressToken as ProgressToken)
    if (call === undefined || !(progress > call.latest)) return
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
}
