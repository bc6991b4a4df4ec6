import type { Call } from './pending.ts'

/**
 * Calls that end with a signal: one listener for each signal, however many calls share it, because
 * the platform warns of a leak from the eleventh on.
 */
export class Aborts {
  readonly #onAbort: (call: Call, reason: unknown) => void
  readonly #bySignal = new Map<AbortSignal, Set<Call>>()

  constructor(onAbort: (call: Call, reason: unknown) => void) {
    this.#onAbort = onAbort
  }

  /** Watches a signal that has not been aborted; gives what ends watching it for this call. */
  watch(signal: AbortSignal, call: Call): () => void {
    let calls = this.#bySignal.get(signal)
    if (calls === undefined) {
      calls = new Set()
      this.#bySignal.set(signal, calls)
      signal.addEventListener('abort', this.#listener)
    }
    calls.add(call)
    return () => this.#forget(signal, call)
  }

  #forget(signal: AbortSignal, call: Call): void {
    const calls = this.#bySignal.get(signal)
    if (calls === undefined || !calls.delete(call) || calls.size > 0) return
    this.#bySignal.delete(signal)
    signal.removeEventListener('abort', this.#listener)
  }

  readonly #listener = (event: Event): void => {
    // The check: listened to on signals alone.
    const signal = event.target as AbortSignal
    for (const call of [...(this.#bySignal.get(signal) ?? [])]) this.#onAbort(call, signal.reason)
  }
}
