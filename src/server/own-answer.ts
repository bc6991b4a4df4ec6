import { isRecord } from '../util/record.ts'

/**
 * What a server has answered a message with, for as long as its middlewares run: most of them only look,
 * and what comes out of them then is as it has to be already.
 */
export class OwnAnswer {
  #answer: unknown
  #meta: unknown
  #type: unknown

  /** Remembers an answer in place of the one before, and gives it back. */
  keep<T>(answer: T): T {
    this.#answer = answer
    if (isRecord(answer)) {
      this.#meta = answer._meta
      this.#type = answer.resultType
    }
    return answer
  }

  /** Whether something is that answer, and says what it said of itself. Forgets it. */
  isStill(given: unknown): boolean {
    const isSame = given === this.#answer
    this.#answer = undefined
    if (!isSame || !isRecord(given)) return isSame
    return given._meta === this.#meta && given.resultType === this.#type
  }
}
