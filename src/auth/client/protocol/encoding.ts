import { toBase64Url } from '../../../util/crypto/base64url.ts'

/** Returns 256 random bits as text that can stand in a URL. */
export function randomText(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)))
}

/** Resolves to the SHA-256 digest of a text in base64url. */
export async function sha256(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text)
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
}

/** Whether two texts are equal, in a time that does not depend on where they differ. */
export function isEqualSecret(one: string, other: string): boolean {
  let difference = one.length ^ other.length
  for (let at = 0; at < one.length; at++) {
    difference |= one.charCodeAt(at) ^ (other.charCodeAt(at) || 0)
  }
  return difference === 0
}
