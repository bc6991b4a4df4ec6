import { type CryptoKey, exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose'

/** The claims of a token, and what is odd about it. */
export interface TokenOptions {
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Partial<JWTHeaderParameters>
  /** Signs with another key than the published one. */
  readonly key?: CryptoKey
}

/** An issuer of tokens, without a server. */
export async function tokenIssuer(issuer = 'https://as.example.com', kid = 'k1') {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }
  return {
    issuer,
    jwk,
    jwks: { keys: [jwk] },
    privateKey,
    token: ({ claims = {}, header = {}, key = privateKey }: TokenOptions = {}): Promise<string> => {
      const now = Math.floor(Date.now() / 1000)
      const all = {
        iss: issuer,
        sub: 'ada',
        aud: 'https://tools.example.com/mcp',
        iat: now,
        exp: now + 300,
        ...claims,
      }
      const defined = Object.fromEntries(
        Object.entries(all).filter(([, value]) => value !== undefined),
      )
      const head = { alg: 'ES256', kid, typ: 'at+jwt', ...header }
      return new SignJWT(defined).setProtectedHeader(head).sign(key)
    },
  }
}
