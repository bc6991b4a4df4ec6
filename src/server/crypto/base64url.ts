const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const decoder = new TextDecoder()

const sextets = new Int8Array(128).fill(-1)
for (const [sextet, character] of [...alphabet].entries()) {
  sextets[character.charCodeAt(0)] = sextet
}

/** Bytes as text for URLs and JSON: base64url as in RFC 4648, section 5, without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  const codes = new Uint8Array(Math.ceil((bytes.length * 4) / 3))
  let held = 0
  let bits = 0
  let filled = 0
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xffff
    bits += 8
    while (bits >= 6) {
      bits -= 6
      codes[filled++] = alphabet.charCodeAt((held >> bits) & 63)
    }
  }
  if (bits > 0) codes[filled] = alphabet.charCodeAt((held << (6 - bits)) & 63)
  return decoder.decode(codes)
}

/**
 * The bytes that a text stands for; undefined for any text that `toBase64Url` would not have written:
 * padding, other characters, a length that cannot be, bits left over at the end. So no two texts stand
 * for the same bytes, and a token cannot be respelt.
 */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 === 1) return undefined
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4))
  let held = 0
  let bits = 0
  let filled = 0
  for (let i = 0; i < text.length; i++) {
    const sextet = sextets[text.charCodeAt(i)] ?? -1
    if (sextet === -1) return undefined
    held = ((held << 6) | sextet) & 0xffff
    bits += 6
    if (bits >= 8) {
      bits -= 8
      bytes[filled++] = (held >> bits) & 0xff
    }
  }
  return (held & ((1 << bits) - 1)) === 0 ? bytes : undefined
}
