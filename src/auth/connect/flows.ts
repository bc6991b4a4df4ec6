import { BoundedMap } from '../../util/bounded-map.ts'
import { limits } from '../../util/limits/limits.ts'

interface Entry<T> {
  readonly value: T
  readonly until: number
}

/**
 * Steps of users on the pages, each under a name that is used once: at most `connectFlows`, each for a limited time.
 */
export class Flows<T> {
  readonly #entries: BoundedMap<Entry<T>>
  readonly #ms: number

  constructor(ms: number, max: number = limits.connectFlows.default) {
    this.#ms = ms
    this.#entries = new BoundedMap(max, Number.POSITIVE_INFINITY)
  }

  /** Keeps a value under a name. */
  add(name: string, value: T): void {
    this.#entries.set(name, { value, until: Date.now() + this.#ms }, 0)
  }

  /** Whether a value is kept under a name. */
  has(name: string): boolean {
    const entry = this.#entries.get(name)
    return entry !== undefined && Date.now() < entry.until
  }

  /** Returns the value under a name and forgets it; undefined if there is none, or if its time is over. */
  take(name: string): T | undefined {
    const entry = this.#entries.get(name)
    this.#entries.delete(name)
    return entry !== undefined && Date.now() < entry.until ? entry.value : undefined
  }
}
