/** Returns this many cryptographically random bytes as hexadecimal digits. */
export function randomHex(bytes: number): string {
  let text = ''
  for (const byte of crypto.getRandomValues(new Uint8Array(bytes))) text += hex[byte]
  return text
}

/**
 * Returns a token of 96 random bits, which cannot be guessed, not even from other tokens. Costs little, because
 * the random bits are generated in advance.
 */
export function randomToken(): string {
  if (used + 3 > words.length) {
    crypto.getRandomValues(words)
    used = 0
  }
  let text = ''
  for (let left = 3; left > 0; left--) {
    text += (words[used] ?? 0).toString(36)
    words[used++] = 0
  }
  return text
}

const words = new Uint32Array(768)
let used = words.length

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
