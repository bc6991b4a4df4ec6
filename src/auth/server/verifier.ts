import type { Principal } from '../../jsonrpc/channel.ts'
import type { ClientCertificate } from '../../mcp/authenticator.ts'
import { limits } from '../../util/limits/limits.ts'
import { abortable } from '../../util/promises.ts'

/** Thrown by a verifier for a token that it knows to be invalid. The caller gets 401. */
export class InvalidToken extends Error {
  /** Whether the token was valid once. */
  readonly isExpired: boolean

  constructor(message: string, options: { readonly isExpired?: boolean } = {}) {
    super(message)
    this.name = 'InvalidToken'
    this.isExpired = options.isExpired ?? false
  }
}

/** Thrown by a verifier that cannot decide at present. The caller gets 503. */
export class VerifierUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'VerifierUnavailable'
  }
}

/** A request with a token, as verifiers see it. */
export interface TokenRequest {
  /** The HTTP method. */
  readonly method: string
  /** The path, without the query. */
  readonly path: string
  /** The audiences that a token may be issued for. */
  readonly audiences: readonly string[]
  /** The certificate of the client, if the transport verified one. */
  readonly certificate: ClientCertificate | undefined
}

/** A token that was verified. */
export interface VerifiedToken {
  /** The caller. */
  readonly principal: Principal
  /** When the token must be verified again, in milliseconds since 1970; undefined for never. */
  readonly until: number | undefined
  /** The key that the token is bound to: the thumbprint of a DPoP key, or the digest of a certificate. */
  readonly confirmation?:
    | {
        /** The thumbprint of the key of DPoP proofs (RFC 9449). */
        readonly jkt?: string
        /** The digest of the client certificate (RFC 8705). */
        readonly x5tS256?: string
      }
    | undefined
  /** The key that signed the token: when its issuer withdraws that key, the token is verified again. */
  readonly keyId?: string | undefined
}

/** Authenticates callers by one kind of token. */
export interface Verifier {
  /** Names the verifier in metrics and in the principals that it makes. */
  readonly name: string
  /** The issuers of the authorization servers at which clients get such tokens; none for API keys. */
  readonly issuers: readonly string[]
  /** The header that carries the credential instead of `Authorization`, in lower case. */
  readonly header?: string | undefined
  /** Whether tokens may be bound to a DPoP key. */
  readonly dpop: boolean
  /** Whether it recognizes tokens of every form. Such a verifier gets only what no other one recognizes. */
  readonly acceptsEveryForm?: boolean
  /** Whether a credential is of the kind that this verifier checks, by its form alone. */
  recognizes(token: string): boolean
  /** Verifies a token. Throws an InvalidToken or a VerifierUnavailable; anything else counts as unavailable. */
  verify(token: string, request: TokenRequest): VerifiedToken | Promise<VerifiedToken>
  /** Called with a key when an issuer has withdrawn it. */
  onKeyWithdrawn?: ((keyId: string) => void) | undefined
  /** Releases what it holds, such as watched files. */
  close?(): void
}

/** The options of `verifier`. */
export interface CustomVerifierOptions {
  /** Names the verifier. Ids of principals start with it, unless they have a prefix. */
  readonly name: string
  /** The issuers of the authorization servers at which clients get such tokens. */
  readonly issuers?: readonly string[]
  /** How long a verified token is cached, in milliseconds; 0, the default, verifies each request. */
  readonly cacheMs?: number
}

/**
 * Makes a verifier of a function that returns the principal of a token, or undefined for an invalid token.
 * A function that throws anything but an InvalidToken, or takes too long, makes the request fail with 503:
 * it never lets a caller pass.
 */
export function verifier(
  verify: (
    token: string,
    request: TokenRequest,
  ) => Principal | undefined | Promise<Principal | undefined>,
  options: CustomVerifierOptions,
): Verifier {
  const { name, issuers = [], cacheMs = 0 } = options
  if (typeof verify !== 'function' || typeof name !== 'string' || name === '') {
    throw new TypeError('verifier() expects a function and { name }')
  }
  return {
    name,
    issuers,
    dpop: false,
    acceptsEveryForm: true,
    recognizes: () => true,
    verify: async (token, request) => {
      const verified = (async () => verify(token, request))()
      const principal = await abortable(verified, AbortSignal.timeout(limits.verifierMs.default))
      if (principal === undefined || principal === null) throw new InvalidToken('it is unknown')
      const { id } = principal
      if (typeof id !== 'string' || id === '') {
        throw new VerifierUnavailable(`verifier "${name}" returned a principal without an id`)
      }
      const named = id.includes(':') ? id : `${name}:${id}`
      const now = Date.now()
      const { expiresAt = Number.POSITIVE_INFINITY } = principal
      if (expiresAt <= now) throw new InvalidToken('it has expired', { isExpired: true })
      return {
        principal: Object.freeze({ ...principal, id: named, verifier: name }),
        until: Math.min(now + cacheMs, expiresAt),
      }
    },
  }
}
