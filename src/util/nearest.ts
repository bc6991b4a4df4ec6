/**
 * Returns the known name that `name` is most likely a misspelling of, or undefined if none is close:
 * the same name in another case, or one within a few edits (Damerau-Levenshtein distance). A name that
 * only begins like `name` counts if none is close as a whole: `timout` is close to `timeoutMs`.
 */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const lower = name.toLowerCase()
  // Copied, because an iterator can be read only once.
  const names = [...known]
  let best: string | undefined
  // A third of the letters, so that short words do not match each other.
  let distance = Math.min(3, Math.floor(name.length / 3)) + 1
  for (const candidate of names) {
    const found = editDistance(lower, candidate.toLowerCase(), distance)
    if (found >= distance) continue
    best = candidate
    distance = found
  }
  return best ?? beginning(lower, names)
}

/** Returns the shortest known name that begins with `name`, or nearly so. */
function beginning(name: string, known: readonly string[]): string | undefined {
  // Shorter words begin too many others.
  if (name.length < 4) return undefined
  let best: string | undefined
  for (const candidate of known) {
    if (best !== undefined && candidate.length >= best.length) continue
    const lower = candidate.toLowerCase()
    // One letter may be missing in `name`, or be too many.
    const starts = [-1, 0, 1].map(more => lower.slice(0, name.length + more))
    if (starts.some(start => editDistance(name, start, 2) < 2)) best = candidate
  }
  return best
}

/**
 * Returns `; did you mean "…"?` to append to an error message, or an empty string if no name is close.
 */
export function didYouMean(name: string, known: Iterable<string>): string {
  const meant = nearest(name, known)
  return meant === undefined ? '' : `; did you mean "${meant}"?`
}

/**
 * Counts insertions, deletions, substitutions and swaps of neighbors; `max` stands for that many or
 * more.
 */
function editDistance(one: string, other: string, max: number): number {
  if (Math.abs(one.length - other.length) >= max) return max
  let before: number[] = []
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1
      let min = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same)
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      if (isSwap) min = Math.min(min, (before[j - 2] ?? 0) + 1)
      next.push(min)
    }
    before = row
    row = next
  }
  return Math.min(row.at(-1) ?? max, max)
}
