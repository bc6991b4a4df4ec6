import type { GrantEvent, LoginEvent } from '../../mcp/callers/authorization-event.ts'
import { addressText } from '../../util/text/address-text.ts'
import { scopeText } from '../documents/scope.ts'
import type { GrantTicket } from './tickets.ts'

/** Describes the login of a browser that opened a link; with a reason if it was refused. */
export function loginEvent({ principal }: GrantTicket, reason?: string): LoginEvent {
  const outcome = reason === undefined ? 'accepted' : 'refused'
  return { event: 'login', outcome, principal, reason }
}

/** Describes what came of the approval of a user; with a reason if there is no grant. */
export function grantEvent(
  { principal, server, grantedBy, scopes, elicitationId }: GrantTicket,
  reason?: string,
): GrantEvent {
  return {
    event: 'grant',
    outcome: reason === undefined ? 'made' : 'failed',
    principal,
    address: addressText(server),
    issuer: grantedBy,
    scope: scopeText(scopes),
    elicitationId,
    reason,
  }
}
