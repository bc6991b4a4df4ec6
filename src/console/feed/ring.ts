/** Keeps the newest values, at most `max`. */
export class Ring<T> {
  readonly #max: number
  readonly #values: T[] = []
  #count = 0

  constructor(max: number) {
    this.#max = max
  }

  /** How many values there have been, those included that are no longer kept. */
  get count(): number {
    return this.#count
  }

  push(value: T): void {
    this.#values[this.#count % this.#max] = value
    this.#count++
  }

  /** Returns the values that are kept, the oldest first. */
  list(): readonly T[] {
    if (this.#count <= this.#max) return [...this.#values]
    const oldest = this.#count % this.#max
    return [...this.#values.slice(oldest), ...this.#values.slice(0, oldest)]
  }

  /** Returns the values after the first `count` ones, as far as they are kept, the oldest first. */
  after(count: number): readonly T[] {
    const added = this.#count - count
    return added <= 0 ? [] : this.list().slice(-added)
  }
}
