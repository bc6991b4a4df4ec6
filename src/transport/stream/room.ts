/**
 * Where senders wait until there is room again: one promise for all of them.
 *
 * A sender may ignore the promise; its rejection is then not reported as unhandled.
 */
export class Room {
  #waiting: Promise<void> | undefined
  #resolve: () => void = nothing
  #reject: (error: Error) => void = nothing

  wait(): Promise<void> {
    if (this.#waiting === undefined) {
      this.#waiting = new Promise((resolve, reject) => {
        this.#resolve = resolve
        this.#reject = reject
      })
      this.#waiting.catch(nothing)
    }
    return this.#waiting
  }

  /** Lets everybody go on. */
  clear(): void {
    this.#resolve()
    this.#waiting = undefined
  }

  /** Tells everybody that there will be no room any more. */
  fail(error: Error): void {
    this.#reject(error)
    this.#waiting = undefined
  }
}

function nothing(): void {}
