/**
 * Copies a slice of a text into a string of its own. A slice keeps the whole text alive, which for an
 * id or a name can be long and hold many messages.
 */
export function detached(slice: string): string {
  // V8 copies shorter slices anyway. A slice of a new concatenation does not refer to the original
  // text.
  return slice.length < MIN_SLICED_LENGTH ? slice : ` ${slice}`.slice(1)
}

/**
 * Detaches a name and returns the same string each time the name repeats, so that its hash is not
 * computed again for every table lookup.
 */
export function interned(slice: string): string {
  const { length } = slice
  if (length > MAX_INTERNED_LENGTH) return detached(slice)
  // One slot per length and last letter is enough; the latest name keeps the slot.
  const slot = (length + slice.charCodeAt(length - 1)) & (SLOTS - 1)
  const known = names[slot]
  if (known === slice) return known
  const name = detached(slice)
  names[slot] = name
  return name
}

const MIN_SLICED_LENGTH = 13
const MAX_INTERNED_LENGTH = 256
const SLOTS = 64
const names: string[] = new Array(SLOTS).fill('')
