/**
 * Makes what tells whether a name is among those listed; `*` stands for any characters, or none.
 *
 * Every other character stands for itself. No name can make it slow: the parts between stars are
 * looked for from left to right, each once.
 */
export function matcher(patterns: readonly string[]): (name: string) => boolean {
  const exact = new Set(patterns.filter(pattern => !pattern.includes('*')))
  const open = patterns.filter(pattern => pattern.includes('*')).map(pattern => pattern.split('*'))
  return name => exact.has(name) || open.some(parts => matches(name, parts))
}

/** The first and the last part stand at the ends; the others come in this order in between. */
function matches(name: string, parts: readonly string[]): boolean {
  const first = parts[0] ?? ''
  const last = parts.at(-1) ?? ''
  const end = name.length - last.length
  if (first.length > end || !name.startsWith(first) || !name.endsWith(last)) return false
  let from = first.length
  // The leftmost place of a part leaves the most room for those after it: no other need be tried.
  for (const part of parts.slice(1, -1)) {
    const at = name.indexOf(part, from)
    if (at === -1 || at + part.length > end) return false
    from = at + part.length
  }
  return true
}
