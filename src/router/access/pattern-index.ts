import { matcher } from '../catalog/glob.ts'

interface Pattern {
  readonly matches: (name: string) => boolean
  readonly owner: number
}

/**
 * Finds the owners of all patterns that match a name, without trying every pattern: exact ones are looked up,
 * and the others by what they begin with.
 */
export class PatternIndex {
  readonly #exact = new Map<string, number[]>()
  /** By the text before the first `*`. */
  readonly #globs = new Map<string, Pattern[]>()
  /** The lengths of these texts. */
  readonly #lengths = new Set<number>()

  /** Adds the patterns of an owner. */
  add(patterns: readonly string[], owner: number): void {
    for (const pattern of patterns) {
      const star = pattern.indexOf('*')
      if (star === -1) append(this.#exact, pattern, owner)
      else {
        this.#lengths.add(star)
        append(this.#globs, pattern.slice(0, star), { matches: matcher([pattern]), owner })
      }
    }
  }

  /** Returns the owners of the patterns that match a name, each once, in ascending order. */
  find(name: string): readonly number[] {
    const owners = new Set(this.#exact.get(name))
    for (const length of this.#lengths) {
      if (length > name.length) continue
      for (const { matches, owner } of this.#globs.get(name.slice(0, length)) ?? []) {
        if (matches(name)) owners.add(owner)
      }
    }
    return [...owners].sort((one, other) => one - other)
  }
}

function append<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
