import type { CryptoKey, JWK } from '../../auth/jose.ts'
import type { Verifier } from '../../auth/server/verifier.ts'
import { jwt } from '../../auth/server/verifiers/jwt.ts'
import { type DevIssuerOptions, issuerSettings } from './options.ts'
import { issuerService } from './service.ts'
import { AccessTokens, type DevTokenOptions } from './tokens/access-tokens.ts'
import { createSigningKey } from './tokens/signing-key.ts'

/** An authorization server for development and tests, in the memory of this process. */
export interface DevIssuer {
  /** The issuer, which is the address of the authorization server. */
  readonly issuer: string
  /** The public keys. */
  readonly jwks: {
    /** The keys, as JWKs. */
    readonly keys: readonly JWK[]
  }
  /** The private key, to sign what `token` does not. */
  readonly privateKey: CryptoKey
  /** Makes an access token without a login. Rejects with a TypeError without an audience. */
  token(options?: DevTokenOptions): Promise<string>
  /** Makes a verifier of its tokens, for the option `auth.verify` of one listener. It sends no requests. */
  verifier(): Verifier
  /**
   * Returns a function that does what a user does in a browser: opens the page to log in, chooses the user (the first
   * one by default), and returns the address to which the browser is redirected. For the option `open` of `oauth`.
   */
  browser(sub?: string): (page: URL) => Promise<URL>
  /** Stops listening. Tokens stay valid for verifiers that know the keys. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Starts an authorization server for development and tests. It has everything that MCP clients use: discovery,
 * registration, authorization codes with PKCE, refresh tokens that are replaced with every use, client credentials,
 * token exchange, assertions of identity providers (ID-JAG), DPoP, introspection and revocation. Anybody who reaches it can log in as any of its users, so it
 * listens on this machine only; another address is a TypeError. Everything is forgotten when it is closed.
 */
export async function devIssuer(options: DevIssuerOptions = {}): Promise<DevIssuer> {
  const settings = issuerSettings(options)
  const { address } = settings
  const [own, stranger] = await Promise.all([
    createSigningKey(settings.keyId),
    createSigningKey('stranger'),
  ])
  const tokensOf = (issuer: string) => new AccessTokens(issuer, settings, { own, stranger })
  if (address === false) {
    const noPage = async (): Promise<never> => {
      throw new TypeError('an issuer with address: false has no page to log in')
    }
    return issuerOf(
      tokensOf(settings.issuer),
      () => noPage,
      async () => {},
    )
  }
  const { serveOnLoopback } = await import('./node-listener.ts')
  const { close, service } = await serveOnLoopback(address, origin =>
    issuerService(tokensOf(origin), settings),
  )
  return issuerOf(service.tokens, service.browser, close)
}

function issuerOf(
  tokens: AccessTokens,
  browser: DevIssuer['browser'],
  close: () => Promise<void>,
): DevIssuer {
  const { issuer, key } = tokens
  const jwks = { keys: [key.jwk] }
  return {
    issuer,
    jwks,
    privateKey: key.privateKey,
    token: options => tokens.make(options),
    verifier: () => jwt({ issuer, jwks, rolesFrom: 'roles' }),
    browser,
    close,
    [Symbol.asyncDispose]: close,
  }
}
