import { limits } from '../../util/limits/limits.ts'
import { randomToken } from '../../util/random.ts'
import { type Clock, systemClock, type Timer } from '../../util/time/clock.ts'
import type { AnswerRequest, QuestionRow } from '../wire-play.ts'

/** A server request that waits for a person. */
interface OpenQuestion {
  readonly row: Omit<QuestionRow, 'leftMs'>
  readonly untilMs: number
  readonly timer: Timer
  readonly answer: (answer: AnswerRequest) => void
}

/** The server requests that wait for the person at one page. */
export class Questions {
  readonly #open = new Map<string, OpenQuestion>()
  readonly #onChange: () => void
  readonly #clock: Clock

  /** `onChange` is called when a request comes, is answered or withdrawn. */
  constructor(onChange: () => void, clock: Clock = systemClock) {
    this.#onChange = onChange
    this.#clock = clock
  }

  get size(): number {
    return this.#open.size
  }

  /** Returns the requests that wait, in the order in which they came. */
  list(): readonly QuestionRow[] {
    const now = this.#clock.now()
    return Array.from(this.#open.values(), ({ row, untilMs }) => ({
      ...row,
      leftMs: Math.max(0, Math.round(untilMs - now)),
    }))
  }

  /**
   * Asks the person. Resolves with the answer: `cancel` when the time is over, the server withdraws its request, too
   * many wait already, or the page is left.
   */
  ask(
    row: Pick<QuestionRow, 'kind' | 'server' | 'params'>,
    signal: AbortSignal,
  ): Promise<AnswerRequest> {
    if (this.#open.size >= limits.consoleQuestions.default || signal.aborted) {
      return Promise.resolve(cancelled)
    }
    return new Promise(resolve => {
      const id = randomToken()
      const withdraw = (): void => void this.answer(id, cancelled)
      const maxMs = limits.consoleQuestionMs.default
      const timer = this.#clock.start(withdraw, maxMs)
      timer.unref()
      signal.addEventListener('abort', withdraw, { once: true })
      this.#open.set(id, {
        row: { ...row, id },
        untilMs: this.#clock.now() + maxMs,
        timer,
        answer: answer => {
          signal.removeEventListener('abort', withdraw)
          resolve(answer)
        },
      })
      this.#onChange()
    })
  }

  /** Answers a request. Returns false if it does not wait any more. */
  answer(id: string, answer: AnswerRequest): boolean {
    const question = this.#open.get(id)
    if (question === undefined) return false
    this.#open.delete(id)
    this.#clock.stop(question.timer)
    question.answer(answer)
    this.#onChange()
    return true
  }

  /** Answers all requests with `cancel`. */
  close(): void {
    for (const id of [...this.#open.keys()]) this.answer(id, cancelled)
  }
}

const cancelled: AnswerRequest = { action: 'cancel' }
