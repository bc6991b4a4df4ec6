/**
 * The name among `known` that somebody who wrote `name` most likely meant, or undefined if none is
 * near: the same but for its case, or so few changes of a letter away that it must be a slip.
 */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const written = name.toLowerCase()
  let best: string | undefined
  // A third of the letters, so that short words do not become each other.
  let distance = Math.min(3, Math.floor(name.length / 3)) + 1
  for (const candidate of known) {
    const found = changesBetween(written, candidate.toLowerCase(), distance)
    if (found >= distance) continue
    best = candidate
    distance = found
  }
  return best
}

/** Letters to add, drop, replace or swap with their neighbours; `most` stands for that many or more. */
function changesBetween(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) >= most) return most
  let before: number[] = []
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1
      let least = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same)
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      if (isSwap) least = Math.min(least, (before[j - 2] ?? 0) + 1)
      next.push(least)
    }
    before = row
    row = next
  }
  return Math.min(row.at(-1) ?? most, most)
}
