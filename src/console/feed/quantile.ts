/**
 * Estimates a quantile of durations in milliseconds from a histogram: `counts` are the values in each bucket, and
 * `bounds` the upper bounds of the buckets in seconds. Within a bucket the values count as evenly spread; those above
 * all bounds count as the last bound. Returns null without values.
 */
export function quantile(
  bounds: readonly number[],
  counts: readonly number[],
  share: number,
): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let rest = total * share
  for (const [at, count] of counts.entries()) {
    if (count > 0 && rest <= count) {
      const lower = at === 0 ? 0 : (bounds[at - 1] ?? 0)
      const upper = bounds[at] ?? lower
      return (lower + (upper - lower) * (rest / count)) * 1000
    }
    rest -= count
  }
  return (bounds.at(-1) ?? 0) * 1000
}
