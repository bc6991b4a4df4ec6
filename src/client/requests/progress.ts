import type { ProgressToken } from '../../mcp/types/base.ts'
import { isRecord } from '../../util/record.ts'

/** How far a call has come. `progress` grows from one report to the next. */
export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** The calls that want to be told of progress, by the tokens they were sent with. */
export class ProgressBoard {
  readonly #calls = new Map<ProgressToken, Watched>()
  readonly #onError: (error: unknown) => void
  #last = 0

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** Gives out a token that no other call has or had. */
  watch(onProgress: (progress: Progress) => void): ProgressToken {
    const token = ++this.#last
    this.#calls.set(token, { onProgress, latest: Number.NEGATIVE_INFINITY })
    return token
  }

  unwatch(token: ProgressToken): void {
    this.#calls.delete(token)
  }

  /**
   * Takes a notification. One that tells of no progress is dropped: it must not keep a call waiting.
   */
  onNotification(params: unknown): void {
    if (!isRecord(params) || typeof params.progress !== 'number') return
    const { progressToken, progress, total, message } = params
    // The check: anything else is no key of the map.
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
