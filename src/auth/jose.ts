export type { CryptoKey, JWK } from 'jose'

/** Loads the package `jose`, which signs, verifies and imports keys. Programs that need none never load it. */
export function loadJose(): Promise<typeof import('jose')> {
  return import('jose')
}
