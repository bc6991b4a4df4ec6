/** An empty list or object takes about as much memory, in bytes. */
const containerBytes = 40
/** The place of a value in a list or object. */
const slotBytes = 16

/**
 * Estimates the memory that a JSON value takes, in bytes. Strings count one byte for each character.
 * Without recursion, because the value may be deep.
 */
export function jsonMemory(value: unknown): number {
  let bytes = 0
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === 'string') bytes += next.length
    else if (typeof next === 'object' && next !== null) {
      bytes += containerBytes
      if (Array.isArray(next)) {
        for (const item of next) {
          bytes += slotBytes
          if (isLarge(item)) open.push(item)
        }
      } else {
        for (const [key, member] of Object.entries(next)) {
          bytes += slotBytes + key.length
          if (isLarge(member)) open.push(member)
        }
      }
    }
  }
  return bytes
}

function isLarge(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null)
}
