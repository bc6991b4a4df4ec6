import { loadJose } from '../../jose.ts'
import { InvalidToken } from '../verifier.ts'
import type { KeySet } from './key-set.ts'

/** The signature algorithms that are secure and whose keys can be published. */
export const secureAlgorithms: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

/**
 * Returns the id of the key that has signed a token, if the key has one. Throws an InvalidToken if none has. With
 * `secret` the signature must be made with it; else with one of the published keys.
 */
export async function checkSignature(
  token: string,
  header: Readonly<Record<string, unknown>>,
  algorithms: readonly string[],
  keySet: KeySet | undefined,
  secret: Uint8Array | undefined,
): Promise<string | undefined> {
  const { compactVerify } = await loadJose()
  const options = { algorithms: [...algorithms] }
  const keys =
    secret === undefined ? ((await keySet?.find(header)) ?? []) : [{ key: secret, id: undefined }]
  for (const { key, id } of keys) {
    try {
      await compactVerify(token, key, options)
      return id
    } catch {
      // A wrong signature, or a key that does not fit the algorithm that the token names.
    }
  }
  throw new InvalidToken(keys.length === 0 ? 'its key is unknown' : 'its signature is wrong')
}
