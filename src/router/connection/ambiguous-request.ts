import { type Deadlines, timed } from '../../util/time/deadline.ts'

/** What a question of a server may belong to: a call under way, or one that was given up. */
export interface Suspect {
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
  readonly #suspects: Set<Suspect>
  readonly #cleared: Promise<void>
  #clear: () => void = () => {}

  constructor(suspects: Iterable<Suspect>, options: DoubtOptions) {
    this.taskId = options.taskId
    this.#suspects = new Set(suspects)
    this.#cleared = this.#wait(options)
  }

  /** Those that are left: of one owner, or none, once it has cleared up. */
  get suspects(): Iterable<Suspect> {
    return this.#suspects
  }

  /**
   * Settles when no more than one owner is left; rejects with the refusal when the time is up, and with
   * the reason of the signal when the server does not want to know any more.
   */
  get cleared(): Promise<void> {
    return this.#cleared
  }

  /** This one has not asked. */
  rule(out: Suspect): void {
    if (this.#suspects.delete(out)) this.#look()
  }

  /** This one has asked. */
  settle(asker: Suspect): void {
    this.#suspects.clear()
    this.#suspects.add(asker)
    this.#clear()
  }

  /** This one was given up: something else stands for it from now on. */
  replace(suspect: Suspect, by: Suspect): void {
    if (this.#suspects.delete(suspect)) this.#suspects.add(by)
  }

  #look(): void {
    if (!haveSeveralOwners(this.#suspects)) this.#clear()
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
export function haveSeveralOwners(suspects: Iterable<Suspect>): boolean {
  let first: Suspect | undefined
  for (const suspect of suspects) {
    first ??= suspect
    if (suspect.owner !== first.owner) return true
  }
  return false
}
