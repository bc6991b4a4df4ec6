import { type Deadlines, timed } from '../../util/time/deadline.ts'

/** What a server request may belong to: a call in flight, or one that was abandoned. */
export interface AttributionCandidate {
  readonly owner: unknown
}

/** How long an ambiguous request is held, and how it ends otherwise. */
export interface AmbiguousRequestOptions {
  readonly deadlines: Deadlines
  readonly waitMs: number
  /** Aborted when the server cancels its request. */
  readonly signal: AbortSignal
  /** Makes the error that the request is rejected with after `waitMs`. */
  readonly rejection: () => Error
  /** The task that the request names, if any: then only that task resolves it. */
  readonly taskId?: string
}

/**
 * A server request that could belong to calls of several owners, held until one owner is left.
 *
 * Only calls that were in flight when the request came are candidates, so later calls do not prolong the
 * wait. A call that has completed did not send the request: its server would still be waiting for the
 * answer. A call that failed, or was abandoned, may have sent it.
 */
export class AmbiguousRequest {
  readonly taskId: string | undefined
  readonly #candidates: Set<AttributionCandidate>
  readonly #attributed: Promise<void>
  #resolve: () => void = () => {}

  constructor(candidates: Iterable<AttributionCandidate>, options: AmbiguousRequestOptions) {
    this.taskId = options.taskId
    this.#candidates = new Set(candidates)
    this.#attributed = this.#wait(options)
  }

  /** The candidates that are left: of one owner, or none, once the request is attributed. */
  get candidates(): Iterable<AttributionCandidate> {
    return this.#candidates
  }

  /**
   * Settles when at most one owner is left. Rejects with the rejection after `waitMs`, and with the
   * reason of the signal if the server cancels its request.
   */
  get attributed(): Promise<void> {
    return this.#attributed
  }

  /** Excludes a candidate that has not sent the request. */
  exclude(candidate: AttributionCandidate): void {
    if (!this.#candidates.delete(candidate)) return
    if (!hasSeveralOwners(this.#candidates)) this.#resolve()
  }

  /** Attributes the request to the call that sent it. */
  attribute(call: AttributionCandidate): void {
    this.#candidates.clear()
    this.#candidates.add(call)
    this.#resolve()
  }

  /** Puts `by` in the place of a candidate that was abandoned. */
  replace(candidate: AttributionCandidate, by: AttributionCandidate): void {
    if (this.#candidates.delete(candidate)) this.#candidates.add(by)
  }

  #wait({ deadlines, waitMs, signal, rejection }: AmbiguousRequestOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      const release = (): void => {
        deadlines.stop(alarm)
        signal.removeEventListener('abort', onAbort)
      }
      const onAbort = (): void => {
        release()
        reject(signal.reason)
      }
      const alarm = timed(() => {
        release()
        reject(rejection())
      })
      this.#resolve = () => {
        release()
        resolve()
      }
      deadlines.start(alarm, waitMs)
      signal.addEventListener('abort', onAbort)
      if (signal.aborted) onAbort()
    })
  }
}

/** Returns whether the candidates belong to more than one owner. */
export function hasSeveralOwners(candidates: Iterable<AttributionCandidate>): boolean {
  let first: AttributionCandidate | undefined
  for (const candidate of candidates) {
    first ??= candidate
    if (candidate.owner !== first.owner) return true
  }
  return false
}
