const maxDepth = 128

/**
 * Encodes a value as canonical JSON (RFC 8785): equal values give equal texts, regardless of the order of
 * their members. The text is that of `JSON.stringify`, with members sorted by their UTF-16 code units
 * and numbers written as JavaScript writes them.
 *
 * Throws a TypeError for a value that JSON does not have, and for nesting beyond 128 levels.
 */
export function canonicalJson(value: unknown): string {
  const plain = plainOf(value)
  if (plain === undefined) throw new TypeError(`not JSON: ${typeof value}`)
  const parts: string[] = []
  write(plain, parts, 0)
  return parts.join('')
}

function write(value: unknown, parts: string[], depth: number): void {
  if (typeof value !== 'object' || value === null) {
    // Throws a TypeError for a bigint.
    parts.push(JSON.stringify(value))
    return
  }
  if (depth === maxDepth) throw new TypeError(`nested deeper than ${maxDepth} levels`)
  if (Array.isArray(value)) writeList(value, parts, depth + 1)
  else writeMembers(value, parts, depth + 1)
}

function writeList(list: readonly unknown[], parts: string[], depth: number): void {
  let before = '['
  for (const item of list) {
    parts.push(before)
    write(plainOf(item) ?? null, parts, depth)
    before = ','
  }
  parts.push(before === '[' ? '[]' : ']')
}

function writeMembers(members: object, parts: string[], depth: number): void {
  const entries = Object.entries(members)
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  let before = '{'
  for (const [name, value] of entries) {
    const plain = plainOf(value)
    if (plain === undefined) continue
    parts.push(before, JSON.stringify(name), ':')
    write(plain, parts, depth)
    before = ','
  }
  parts.push(before === '{' ? '{}' : '}')
}

/** The value that `JSON.stringify` would write: undefined for one it omits, a string for a date. */
function plainOf(value: unknown): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value !== 'object' || value === null || !('toJSON' in value)) return value
  return typeof value.toJSON === 'function' ? value.toJSON() : value
}
