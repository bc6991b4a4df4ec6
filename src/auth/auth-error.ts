/**
 * Why authorization failed:
 *
 * - `login-required`: a user has to log in, and this program cannot ask one.
 * - `denied`: the user, or a server, has refused.
 * - `issuer-mismatch`: a document or an answer comes from another authorization server than expected.
 * - `resource-mismatch`: the metadata of the server describe another server.
 * - `metadata`: a metadata document is missing or invalid.
 * - `registration`: there is no way to register this client with the authorization server.
 * - `no-pkce`: the authorization server does not support PKCE with S256.
 * - `insecure`: an address must not be used, because it is not `https:` or not public.
 * - `state-mismatch`: the callback belongs to no login of this client.
 * - `token`: the token endpoint has refused, or its answer is invalid.
 * - `step-up-limit`: the server asks for more scopes than another authorization would give.
 * - `unsupported`: the authorization server lacks a feature that is required.
 * - `unreachable`: a server did not answer, or has a temporary failure.
 */
export type AuthErrorCode =
  | 'login-required'
  | 'denied'
  | 'issuer-mismatch'
  | 'resource-mismatch'
  | 'metadata'
  | 'registration'
  | 'no-pkce'
  | 'insecure'
  | 'state-mismatch'
  | 'token'
  | 'step-up-limit'
  | 'unsupported'
  | 'unreachable'

/** What an {@link AuthError} is about. Contains no token, code or secret. */
export interface AuthErrorDetails {
  /** The issuer of the authorization server. */
  readonly issuer?: string
  /** The resource that a token was wanted for. */
  readonly resource?: string
  /** The scopes that were asked for. */
  readonly scopes?: readonly string[]
  /** The address of the server that requires a login. */
  readonly url?: string
  /** The error code of the authorization server, such as `invalid_grant`. */
  readonly error?: string
  /** The error that led to this one. */
  readonly cause?: unknown
}

/** A failure of authorization. It is the cause of the ChannelError `'refused'` that a call rejects with. */
export class AuthError extends Error {
  /** What failed, as a word for programs. */
  readonly code: AuthErrorCode
  /** The issuer of the authorization server. */
  readonly issuer: string | undefined
  /** The resource that a token was wanted for. */
  readonly resource: string | undefined
  /** The scopes that were asked for. */
  readonly scopes: readonly string[] | undefined
  /** The address of the server that requires a login. */
  readonly url: string | undefined
  /** The error code of the authorization server, such as `invalid_grant`. */
  readonly error: string | undefined

  constructor(code: AuthErrorCode, message: string, details: AuthErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'AuthError'
    this.code = code
    this.issuer = details.issuer
    this.resource = details.resource
    this.scopes = details.scopes
    this.url = details.url
    this.error = details.error
  }
}

/** Returns why authorization failed, for logs and pages: only the message of an AuthError is known to hold no secret. */
export function authErrorText(error: unknown): string {
  return error instanceof AuthError ? error.message : 'an internal error'
}
