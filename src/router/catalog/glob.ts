/**
 * Returns a predicate that says whether a name matches one of the patterns. `*` matches any number of
 * characters; every other character matches itself.
 *
 * Matching takes no backtracking, so no name can make it slow: each part between stars is searched for
 * once, from left to right.
 */
export function matcher(patterns: readonly string[]): (name: string) => boolean {
  const exact = new Set(patterns.filter(pattern => !pattern.includes('*')))
  const globs = patterns.filter(pattern => pattern.includes('*')).map(pattern => pattern.split('*'))
  return name => exact.has(name) || globs.some(parts => matches(name, parts))
}

/** Matches the first and last part at the ends of the name and the others in between, in order. */
function matches(name: string, parts: readonly string[]): boolean {
  const first = parts[0] ?? ''
  const last = parts.at(-1) ?? ''
  const end = name.length - last.length
  if (first.length > end || !name.startsWith(first) || !name.endsWith(last)) return false
  let from = first.length
  // The leftmost match of a part leaves the most room for the parts after it, so no other is tried.
  for (const part of parts.slice(1, -1)) {
    const at = name.indexOf(part, from)
    if (at === -1 || at + part.length > end) return false
    from = at + part.length
  }
  return true
}
