import { toBase64 } from '../content.ts'

/**
 * The text that a mirrored header stands for: the header itself, or what it holds in Base64. Undefined
 * for Base64 that is none, or not UTF-8.
 */
export function decodeHeader(header: string): string | undefined {
  const text = header.trim()
  const encoded = /^=\?base64\?(.*)\?=$/s.exec(text)?.[1]
  if (encoded === undefined) return text
  // Before decoding, which would pass over what does not belong there.
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(encoded)) {
    return undefined
  }
  try {
    return utf8.decode(Uint8Array.from(atob(encoded), char => char.charCodeAt(0)))
  } catch {
    return undefined
  }
}

/** A text as a mirrored header carries it: as it is where that is safe, otherwise in Base64. */
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
