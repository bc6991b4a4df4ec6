/** Encodes bytes as base64url (RFC 4648, section 5) without padding, for URLs and JSON. */
export function toBase64Url(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/**
 * Decodes base64url. Returns undefined for any text that `toBase64Url` would not have written: padding,
 * other characters, an impossible length, bits left over at the end. So no two texts decode to the same
 * bytes, and a token has one spelling only.
 */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  let binary: string
  try {
    binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  } catch {
    return undefined
  }
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
  // `atob` is lenient: it takes padding and white space, and ignores bits that are left over.
  return toBase64Url(bytes) === text ? bytes : undefined
}
