import { devIssuer } from '../../src/testing/index.ts'

/** An issuer of tokens for `https://tools.example.com/mcp`, without a server. */
export async function tokenIssuer(issuer = 'https://as.example.com', keyId = 'k1') {
  const audience = 'https://tools.example.com/mcp'
  const made = await devIssuer({ address: false, issuer, keyId, audience })
  const [jwk = {}] = made.jwks.keys
  return { ...made, jwk }
}
