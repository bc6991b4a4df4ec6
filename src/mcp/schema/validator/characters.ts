/** Whether a text has at least so many characters: code points, as JSON Schema counts. */
export function hasAtLeast(text: string, count: number): boolean {
  // A character is one or two code units, so most texts need not be counted.
  if (text.length < count) return false
  return text.length >= 2 * count || characters(text) >= count
}

/** Whether a text has at most so many characters: code points, as JSON Schema counts. */
export function hasAtMost(text: string, count: number): boolean {
  if (text.length <= count) return true
  return text.length <= 2 * count && characters(text) <= count
}

function characters(text: string): number {
  let count = text.length
  for (let index = 1; index < text.length; index++) {
    if (isHalf(text, index, 0xdc00) && isHalf(text, index - 1, 0xd800)) count--
  }
  return count
}

function isHalf(text: string, index: number, half: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === half
}
