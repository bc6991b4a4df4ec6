export type { CryptoKey, JWK } from 'jose'

/** The package `jose`. */
export type Jose = typeof import('jose')

let loading: Promise<Jose> | undefined

/** Loads the package `jose`, which signs, verifies and imports keys. Programs that need none never load it. */
export function loadJose(): Promise<Jose> {
  loading ??= import('jose')
  return loading
}
