/**
 * The word among some that somebody most likely meant; undefined where none is close. A third of the
 * letters may be wrong.
 */
export function nearest(word: string, among: Iterable<string>): string | undefined {
  let best: string | undefined
  let least = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of among) {
    const away = distance(word.toLowerCase(), candidate.toLowerCase())
    if (away < least) {
      least = away
      best = candidate
    }
  }
  return best
}

/** What to add to a complaint about a word: the one that was meant, or nothing. */
export function didYouMean(word: string, among: Iterable<string>): string {
  const meant = nearest(word, among)
  return meant === undefined ? '' : `; did you mean "${meant}"?`
}

/** How many letters must be put in, taken out, changed or swapped with their neighbour. */
function distance(from: string, to: string): number {
  let before: number[] = []
  let above = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let at = 1; at <= to.length; at++) {
      const change = from[row - 1] === to[at - 1] ? 0 : 1
      const costs = [
        (above[at] ?? 0) + 1,
        (current[at - 1] ?? 0) + 1,
        (above[at - 1] ?? 0) + change,
      ]
      const isSwapped = from[row - 1] === to[at - 2] && from[row - 2] === to[at - 1]
      if (row > 1 && at > 1 && isSwapped) costs.push((before[at - 2] ?? 0) + 1)
      current.push(Math.min(...costs))
    }
    before = above
    above = current
  }
  return above[to.length] ?? 0
}
