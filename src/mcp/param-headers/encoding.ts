import { toBase64 } from '../content/content.ts'

/**
 * Decodes a mirrored header: the value itself, or the Base64 in it. Returns undefined for invalid
 * Base64 or UTF-8.
 */
export function decodeHeader(header: string): string | undefined {
  const text = header.trim()
  const encoded = /^=\?base64\?(.*)\?=$/s.exec(text)?.[1]
  if (encoded === undefined) return text
  // Checked before decoding, which ignores invalid characters.
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(encoded)) {
    return undefined
  }
  try {
    return utf8.decode(Uint8Array.from(atob(encoded), char => char.charCodeAt(0)))
  } catch {
    return undefined
  }
}

/** Encodes a string as a mirrored header: unchanged if that is safe, else as Base64. */
export function encodeHeader(text: string): string {
  if (
    /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/.test(text) &&
    !text.startsWith('=?base64?')
  ) {
    return text
  }
  return `=?base64?${toBase64(new TextEncoder().encode(text))}?=`
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
