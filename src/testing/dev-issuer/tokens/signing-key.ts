import { type CryptoKey, type JWK, loadJose } from '../../../auth/jose.ts'

/** A key pair that signs the tokens of an issuer. It exists in memory only. */
export interface SigningKey {
  readonly kid: string
  /** The public key, as the key set has it. */
  readonly jwk: JWK
  readonly privateKey: CryptoKey
  /** Signs claims. Members of the header that are undefined are left out. */
  sign(
    header: Readonly<Record<string, unknown>>,
    claims: Readonly<Record<string, unknown>>,
  ): Promise<string>
}

/** Makes a key pair for ES256. */
export async function createSigningKey(kid: string): Promise<SigningKey> {
  const { generateKeyPair, exportJWK, CompactSign } = await loadJose()
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  return {
    kid,
    jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' },
    privateKey,
    sign: (header, claims) => {
      const all = { alg: 'ES256', kid, ...header }
      const defined = Object.fromEntries(
        Object.entries(all).filter(([, value]) => value !== undefined),
      )
      const crit = Array.isArray(header.crit) ? header.crit : []
      return (
        new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
          // The check: `all` has `alg`, and no member of it is undefined.
          .setProtectedHeader(defined as { alg: string })
          .sign(privateKey, { crit: Object.fromEntries(crit.map(name => [String(name), true])) })
      )
    },
  }
}
