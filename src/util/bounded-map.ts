/** A map with a limit of entries and of their weight together. Beyond either, the oldest entries go. */
export class BoundedMap<V> {
  readonly #max: number
  readonly #maxWeight: number
  /** Oldest first. */
  readonly #entries = new Map<string, { readonly value: V; readonly weight: number }>()
  #weight = 0

  constructor(max: number, maxWeight: number) {
    this.#max = max
    this.#maxWeight = maxWeight
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)?.value
  }

  /** Sets an entry, which then is the newest. The newest entry stays, whatever its weight. */
  set(key: string, value: V, weight: number): void {
    this.delete(key)
    this.#entries.set(key, { value, weight })
    this.#weight += weight
    for (const oldest of this.#entries.keys()) {
      if (this.size <= this.#max && this.#weight <= this.#maxWeight) return
      if (oldest !== key) this.delete(oldest)
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#weight -= entry.weight
  }
}
