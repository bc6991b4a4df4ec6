/** The package oidc-provider as the authorization server of tests. */
export interface OidcProvider {
  readonly issuer: string
  /** The grant types of all token requests so far, with the error of those that failed. */
  readonly grants: readonly string[]
  /** Logs a user in on a page, and resolves to where the browser is redirected. */
  open(page: URL): Promise<URL>
  close(): Promise<void>
}

/** Starts the authorization server on this machine. Its access tokens are JWTs that expire after `lifetime` seconds. */
export function oidcProvider(lifetime?: number): Promise<OidcProvider>
