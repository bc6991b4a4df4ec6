import type { JWK } from '../../auth/jose.ts'
import type { NetworkOptions } from '../../auth/network/guarded-request.ts'
import { checkOptions, formatValue, type OptionTableOf } from '../../util/options.ts'

/** A user of a {@link DevIssuer}. */
export interface DevUser {
  /** The name, which is the subject of tokens. */
  readonly sub: string
  /** The roles, which tokens have in the claim `roles`. */
  readonly roles?: readonly string[]
  /** The scopes that the user may grant; all by default. */
  readonly scopes?: readonly string[]
}

/** A client that a {@link DevIssuer} knows from the start. */
export interface DevClient {
  /** The client id. */
  readonly clientId: string
  /** The secret of a client that authenticates with one. */
  readonly clientSecret?: string
  /** The public key of a client that authenticates with its private key. */
  readonly publicKey?: JWK
  /** The addresses to which the browser may return. */
  readonly redirectUris?: readonly string[]
}

/** An identity provider, and the keys by which its assertions are verified. */
export interface IdentityProviderKeys {
  /** Its issuer. */
  readonly issuer: string
  /** Its public keys. */
  readonly jwks: {
    /** The keys, as JWKs. */
    readonly keys: readonly JWK[]
  }
}

/** Options of {@link devIssuer}. */
export interface DevIssuerOptions {
  /**
   * Where to listen: `http://127.0.0.1:0`, a free port of this machine, by default. Other machines cannot be served.
   * With `false` it serves no requests, and only makes tokens.
   */
  readonly address?: string | false
  /** The issuer of tokens, if `address` is false; `https://issuer.example.com` by default. */
  readonly issuer?: string
  /** The users that can log in; `ada` by default. */
  readonly users?: readonly DevUser[]
  /** The clients that are registered already. Others register themselves. */
  readonly clients?: readonly DevClient[]
  /**
   * An identity provider, such as another {@link DevIssuer}, that may vouch for users (ID-JAG, enterprise-managed
   * authorization). Its clients have the same ids here.
   */
  readonly identityProvider?: IdentityProviderKeys
  /** The audience of tokens that are made by `token()` without one. */
  readonly audience?: string
  /** The scopes that the metadata list; every scope is granted, whether it is listed or not. */
  readonly scopes?: readonly string[]
  /** How long access tokens are valid, in seconds; 300 by default. */
  readonly expiresIn?: number
  /** Whether DPoP proofs at the token endpoint need a nonce. */
  readonly dpopNonce?: boolean
  /** How metadata documents of clients are requested, whose ids are URLs. */
  readonly network?: NetworkOptions
  /** The id of the key that signs tokens. */
  readonly keyId?: string
  /** The time in milliseconds since 1970; for tests. */
  readonly now?: () => number
}

/** The options with their defaults. */
export type DevIssuerSettings = Required<Omit<DevIssuerOptions, 'audience' | 'identityProvider'>> &
  Pick<DevIssuerOptions, 'audience' | 'identityProvider'>

const table: OptionTableOf<DevIssuerOptions> = {
  address: 'any',
  issuer: 'string',
  users: 'any',
  clients: 'any',
  identityProvider: 'object',
  audience: 'string',
  scopes: 'strings',
  expiresIn: 'number',
  dpopNonce: 'boolean',
  network: 'object',
  keyId: 'string',
  now: 'function',
}

/** Fills in the defaults. Throws a TypeError for invalid options. */
export function issuerSettings(options: DevIssuerOptions): DevIssuerSettings {
  checkOptions(options, table, 'devIssuer: ')
  const settings = {
    address: options.address ?? 'http://127.0.0.1:0',
    issuer: options.issuer ?? 'https://issuer.example.com',
    users: options.users ?? [{ sub: 'ada' }],
    clients: options.clients ?? [],
    identityProvider: options.identityProvider,
    audience: options.audience,
    scopes: options.scopes ?? [],
    expiresIn: options.expiresIn ?? 300,
    dpopNonce: options.dpopNonce ?? false,
    network: options.network ?? {},
    keyId: options.keyId ?? 'dev',
    // Looked up at each use: a test may replace the clock after it has made the issuer.
    now: options.now ?? (() => Date.now()),
  }
  if (settings.address !== false) {
    checkLoopback(settings.address)
    if (options.issuer !== undefined)
      throw new TypeError('devIssuer: "issuer" requires address: false; else it is the address')
  }
  if (settings.users.length === 0 || settings.users.some(({ sub }) => !sub))
    throw new TypeError('devIssuer: "users" must be a list with at least one { sub }')
  if (settings.clients.some(({ clientId }) => !clientId))
    throw new TypeError('devIssuer: every client needs a "clientId"')
  return settings
}

/** Throws a TypeError for an address that other machines could reach, or that has a path. */
function checkLoopback(address: unknown): void {
  const url = typeof address === 'string' && URL.canParse(address) ? new URL(address) : undefined
  const isLocal = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url?.hostname ?? '')
  if (url?.protocol === 'http:' && isLocal && url.pathname === '/' && url.search === '') return
  throw new TypeError(
    `devIssuer: "address" must be on this machine and without a path, such as "http://127.0.0.1:0", because anybody can log in as anybody (got ${formatValue(address)})`,
  )
}
