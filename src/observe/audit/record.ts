import type {
  ExchangeEvent,
  GrantEvent,
  LoginEvent,
} from '../../mcp/callers/authorization-event.ts'

/** What was decided about a call. */
export type AuditOutcome = 'allowed' | 'challenged' | 'refused' | 'hidden' | 'limited'

/** A decision on a call. Neither the token of the caller nor the arguments of the call are recorded. */
export interface CallAudit {
  readonly event: 'call'
  /** What was decided. */
  readonly outcome: AuditOutcome
  /** The id of the principal; undefined for an anonymous caller. */
  readonly principal?: string | undefined
  /** The OAuth client that acts for the principal. */
  readonly client?: string | undefined
  /** The id of the API key by which the principal was authenticated. */
  readonly key?: string | undefined
  /** The method of the request, such as `tools/call`. */
  readonly method: string
  /** The name of the tool or prompt that the caller sees, or the URI of the resource. */
  readonly name: string
  /** The name of the tool or prompt on its server, if it is another one. */
  readonly upstream?: string | undefined
  /** The name of the server. */
  readonly server: string
  /** The rule of the policy that decided; undefined for its default, or without a policy. */
  readonly rule?: string | undefined
  /** Why: the scopes that are missing, or the limit that was reached. */
  readonly reason?: string | undefined
  /** The id of the request. */
  readonly request?: string | undefined
  /** The first characters of the id of the session. */
  readonly session?: string | undefined
}

/** A token that was requested on behalf of a caller. The token itself is not recorded. */
export interface ExchangeAudit extends ExchangeEvent {
  /** The name of the server that the token is for. */
  readonly server: string
}

/** A login of a browser on the pages on which users grant access. */
export interface LoginAudit extends LoginEvent {
  /** The name of the server to which the user was asked to grant access. */
  readonly server: string
}

/** A grant of a user. Its tokens are not recorded. */
export interface GrantAudit extends GrantEvent {
  /** The name of the server; undefined if only its address is known. */
  readonly server?: string | undefined
}

/** A change of the API keys of a file. Neither the key nor its digest is recorded. */
export interface KeyAudit {
  readonly event: 'key'
  /** What was done to the key. */
  readonly outcome: 'created' | 'revoked'
  /** The id of the key. */
  readonly key: string
  /** The id of the principal that the key authenticates. */
  readonly principal: string
  /** The scopes of the key, separated by spaces. */
  readonly scope?: string | undefined
  /** When the key expires. */
  readonly expires?: string | undefined
}

/** A change of what a router decides by. */
export interface ChangeAudit {
  /** What has changed: the access policy, or the configuration. */
  readonly event: 'policy' | 'config'
  /** Whether the change is in effect. */
  readonly outcome: 'applied' | 'rejected'
  /** What has changed, or why the change was rejected. */
  readonly reason?: string | undefined
}

/** What an audit log records. */
export type AuditRecord =
  | CallAudit
  | ExchangeAudit
  | LoginAudit
  | GrantAudit
  | KeyAudit
  | ChangeAudit

/** Records decisions. `AuditLog` writes them to a file. */
export interface AuditSink {
  /**
   * Records a decision. Returns a promise if there is no room for it now: the call waits until it resolves. Never
   * throws, and the promise never rejects.
   */
  record(record: AuditRecord): void | Promise<void>
}
