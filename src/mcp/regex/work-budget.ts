/** Thrown when checking a value takes more work than its budget. */
export class WorkExceeded extends Error {
  constructor() {
    super('takes too many steps')
    this.name = 'WorkExceeded'
  }
}

/**
 * The work that checking one value may still take, in steps of about five nanoseconds. Whatever grows
 * with the value is charged before it is done, so that no value keeps the event loop busy.
 *
 * Exceeding it throws instead of returning a result: inside `not`, `if` or `anyOf` a wrong result
 * could make the value valid.
 */
export class WorkBudget {
  #left = 0

  /** Sets the work for the next value. */
  renew(work: number): void {
    this.#left = work
  }

  /** Charges work. Throws WorkExceeded if there is less left. */
  spend(work: number): void {
    this.#left -= work
    // Also true for NaN.
    if (!(this.#left >= 0)) throw new WorkExceeded()
  }
}
