import { derivation, importSecret } from '../util/crypto/keys.ts'

/**
 * Derives the keys by which the nodes of a cluster seal what clients keep for them, such as the state of a request that
 * goes on at another node. Nodes with the same secret have the same keys.
 */
export async function sealingKeys(secret: string): Promise<readonly Uint8Array[]> {
  const base = await importSecret(new Uint8Array(new TextEncoder().encode(secret)))
  const bits = await crypto.subtle.deriveBits(derivation('trunkline cluster sealing'), base, 256)
  return [new Uint8Array(bits)]
}
