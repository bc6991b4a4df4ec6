/** A token was requested on behalf of a caller. */
export interface ExchangeEvent {
  readonly event: 'exchange'
  /** Whether a token was issued. */
  readonly outcome: 'issued' | 'failed'
  /** Whether the caller's token was exchanged (RFC 8693), or its identity provider has vouched for it. */
  readonly method: 'token-exchange' | 'id-jag'
  /** The id of the principal. */
  readonly principal: string
  /** The OAuth client that acts for the principal. */
  readonly client?: string | undefined
  /** The issuer of the new token. */
  readonly issuer: string
  /** The scopes that were requested, separated by spaces. */
  readonly scope?: string | undefined
  /** Why no token was issued. */
  readonly reason?: string | undefined
}

/** A browser logged in on the pages of a router, before its user is asked to approve anything. */
export interface LoginEvent {
  readonly event: 'login'
  /** Whether the browser belongs to the principal for whom the page was made. */
  readonly outcome: 'accepted' | 'refused'
  /** The id of the principal for whom the page was made. */
  readonly principal: string
  /** Why the browser was refused. */
  readonly reason?: string | undefined
}

/** A user granted a router access to a server, or the grant was revoked. */
export interface GrantEvent {
  readonly event: 'grant'
  /** Whether the grant was made, could not be made after the user had approved, or was revoked. */
  readonly outcome: 'made' | 'failed' | 'revoked'
  /** The id of the principal. */
  readonly principal: string
  /** The address of the server, without its query. */
  readonly address: string
  /** The issuer of the authorization server at which the user granted access. */
  readonly issuer: string
  /** The scopes that the user was asked for, separated by spaces. */
  readonly scope?: string | undefined
  /** Identifies the request to visit the page. */
  readonly elicitationId?: string | undefined
  /** Why the grant could not be made. */
  readonly reason?: string | undefined
}

/** What happens while a router is authorized to act for its callers. Holds no token, code or secret. */
export type AuthorizationEvent = ExchangeEvent | LoginEvent | GrantEvent
