import type { BackplaneState } from './backplane.ts'

/** Those who want to know whether a backplane is up. */
export class StateListeners {
  readonly #listeners = new Set<(state: BackplaneState) => void>()

  /** Adds a listener; returns a function that removes it. */
  add(listener: (state: BackplaneState) => void): () => void {
    // A copy of its own, so that the same function can be added and removed twice.
    const own = (state: BackplaneState) => listener(state)
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  report(state: BackplaneState): void {
    for (const listener of [...this.#listeners]) listener(state)
  }

  clear(): void {
    this.#listeners.clear()
  }
}
