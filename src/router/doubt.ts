import { type Deadlines, timed } from '../util/deadline.ts'

/** What a question of a server may belong to: a call under way, or one that was given up. */
export interface Candidate {
  readonly owner: unknown
}

/** How long a doubt is borne, and with what it ends otherwise. */
export interface DoubtOptions {
  readonly deadlines: Deadlines
  readonly waitMs: number
  /** The request of the server. */
  readonly signal: AbortSignal
  /** What it rejects with when the time is up. */
  readonly refusal: () => Error
  /** The task that the question names, if it does: then only that can settle it. */
  readonly taskId?: string
}

/**
 * A question that could belong to calls of several owners, and waits until it cannot any more.
 *
 * Only what was under way when it came can have asked it, so that calls that begin later prolong
 * nothing. A call that has done its work has not asked: its server would still be waiting. One that has
 * failed, or was given up, may have.
 */
export class Doubt {
  readonly taskId: string | undefined
  readonly #candidates: Set<Candidate>
  readonly #cleared: Promise<void>
  #clear: () => void = () => {}

  constructor(candidates: Iterable<Candidate>, options: DoubtOptions) {
    this.taskId = options.taskId
    this.#candidates = new Set(candidates)
    this.#cleared = this.#wait(options)
  }

  /** Those that are left: of one owner, or none, once it has cleared up. */
  get candidates(): Iterable<Candidate> {
    return this.#candidates
  }

  /**
   * Settles when no more than one owner is left; rejects with the refusal when the time is up, and with
   * the reason of the signal when the server does not want to know any more.
   */
  get cleared(): Promise<void> {
    return this.#cleared
  }

  /** This one has not asked. */
  rule(out: Candidate): void {
    if (this.#candidates.delete(out)) this.#look()
  }

  /** This one has asked. */
  settle(asker: Candidate): void {
    this.#candidates.clear()
    this.#candidates.add(asker)
    this.#clear()
  }

  /** This one was given up: something else stands for it from now on. */
  replace(candidate: Candidate, by: Candidate): void {
    if (this.#candidates.delete(candidate)) this.#candidates.add(by)
  }

  #look(): void {
    if (!haveSeveralOwners(this.#candidates)) this.#clear()
  }

  #wait({ deadlines, waitMs, signal, refusal }: DoubtOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      const over = (): void => {
        deadlines.stop(alarm)
        signal.removeEventListener('abort', onAbort)
      }
      const onAbort = (): void => {
        over()
        reject(signal.reason)
      }
      const alarm = timed(() => {
        over()
        reject(refusal())
      })
      this.#clear = () => {
        over()
        resolve()
      }
      deadlines.start(alarm, waitMs)
      signal.addEventListener('abort', onAbort)
      if (signal.aborted) onAbort()
    })
  }
}

/** Whether what could have asked belongs to more than one owner. */
export function haveSeveralOwners(candidates: Iterable<Candidate>): boolean {
  let first: Candidate | undefined
  for (const candidate of candidates) {
    first ??= candidate
    if (candidate.owner !== first.owner) return true
  }
  return false
}
