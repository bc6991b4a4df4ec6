import { parseRaw } from '../../jsonrpc/codec/raw-json.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { AuditSink, CallAudit } from '../../observe/audit/record.ts'
import type { HandlerResult, IncomingRequest, NamedParams } from '../../server/request.ts'
import { isRecord } from '../../util/objects.ts'
import type { Access } from './access.ts'
import { auditFacts } from './call-audit.ts'
import type { AccessDecision } from './decision.ts'
import type { Subject } from './subject.ts'

/** A request for an entry that was found, before it is forwarded. */
export interface GuardedCall extends Subject {
  readonly request: IncomingRequest
  /** What the policy lets the caller do; undefined without a policy. */
  readonly access: Access | undefined
  /** The name of the entry on its server, if it is another one. */
  readonly upstream?: string
  /** The decision for any arguments, where it is known already. */
  readonly decision?: AccessDecision | undefined
  /** Makes the error of a caller that does not see the entry: the same as for one that does not exist. */
  notFound(): Error
}

/** Lets requests pass that the policy allows, and records each decision. */
export class Guard {
  readonly #audit: AuditSink | undefined

  constructor(audit: AuditSink | undefined) {
    this.#audit = audit
  }

  /** Whether requests of a caller with this access must be checked or recorded at all. */
  isNeeded(access: Access | undefined): boolean {
    return access !== undefined || this.#audit !== undefined
  }

  /**
   * Calls `next` if the policy allows a request, with the request to forward. Throws or rejects with the error
   * that the caller gets otherwise.
   */
  pass(guarded: GuardedCall, next: (request: IncomingRequest) => HandlerResult): HandlerResult {
    const { request, access } = guarded
    const decision = guarded.decision ?? access?.on(guarded) ?? unguarded
    if (!decision.isConditional || access === undefined) {
      return this.#settle(guarded, decision, request, next)
    }
    // The parsed arguments are forwarded: of a name that occurs twice in their text, the next reader might
    // take the other occurrence.
    const parsed = { ...request, params: parseRaw(request.params) }
    return this.#settle(guarded, access.onCall(guarded, argumentsOf(parsed)), parsed, next)
  }

  #settle(
    guarded: GuardedCall,
    decision: AccessDecision,
    request: IncomingRequest,
    next: (request: IncomingRequest) => HandlerResult,
  ): HandlerResult {
    const recorded = this.#audit?.record(auditOf(guarded, decision))
    const error = accessError(guarded, decision)
    const settle = (): HandlerResult => {
      if (error !== undefined) throw error
      return next(request)
    }
    return recorded === undefined ? settle() : recorded.then(settle)
  }
}

const unguarded: AccessDecision = {
  outcome: 'allowed',
  rule: undefined,
  scopes: [],
  isConditional: false,
}

/** Returns the error of a caller that the policy does not allow a request; undefined if it does. */
export function accessError(
  { name, notFound }: Pick<GuardedCall, 'name' | 'notFound'>,
  { outcome, scopes }: AccessDecision,
): Error | undefined {
  switch (outcome) {
    case 'allowed':
      return undefined
    case 'challenged':
      return errors.insufficientPermissions(
        { scopes },
        { message: `Insufficient scope: ${scopes.join(' ')}` },
      )
    case 'refused':
      return errors.accessDenied(
        { resource: name },
        { message: `Access denied: ${name} with these arguments` },
      )
    case 'hidden':
      return notFound()
  }
}

function auditOf(
  { request, name, upstream, server }: GuardedCall,
  { outcome, rule, scopes }: AccessDecision,
): CallAudit {
  return {
    ...auditFacts(request),
    outcome,
    name,
    upstream: upstream === name ? undefined : upstream,
    server,
    rule,
    reason: outcome === 'challenged' ? `scopes ${scopes.join(' ')}` : undefined,
  }
}

/** The arguments of a call, or those that a completion takes as given. */
function argumentsOf({ method, params }: IncomingRequest): NamedParams {
  const { context } = params
  const of = method === 'completion/complete' ? (isRecord(context) ? context : {}) : params
  return isRecord(of.arguments) ? of.arguments : {}
}
