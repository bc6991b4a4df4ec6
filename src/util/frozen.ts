/**
 * Freezes a value of JSON and whatever it holds, and gives it back: for what several messages share, so
 * that none of them can change what the others say.
 */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) frozen(member)
  return Object.freeze(value)
}

/** A frozen copy, as it would arrive on a wire. Throws a TypeError for what is no JSON. */
export function frozenCopy<T extends object>(value: T): T {
  return frozen(JSON.parse(JSON.stringify(value)))
}
