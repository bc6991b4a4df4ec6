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
export type AuditRecord = CallAudit | ChangeAudit

/** Records decisions. `AuditLog` writes them to a file. */
export interface AuditSink {
  /**
   * Records a decision. Returns a promise if there is no room for it now: the call waits until it resolves. Never
   * throws, and the promise never rejects.
   */
  record(record: AuditRecord): void | Promise<void>
}
