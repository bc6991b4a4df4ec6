import type { ExchangeEvent } from '../../../mcp/callers/authorization-event.ts'
import { authErrorText } from '../../auth-error.ts'
import { scopeText } from '../../documents/scope.ts'
import type { MachineGrant } from '../machine/machine-credentials.ts'
import type { ActedFor } from './credentials-by-caller.ts'

/** Returns a grant that reports each token it requests on behalf of a caller. */
export function reportedGrant(
  grant: MachineGrant,
  method: ExchangeEvent['method'],
  caller: ActedFor,
): MachineGrant {
  return {
    ...grant,
    obtain: async request => {
      const { id: principal, client } = caller.newest()
      const { discovery, scopes } = request
      const { issuer } = discovery.metadata
      const scope = scopeText(scopes)
      const about = { event: 'exchange', method, principal, client, issuer, scope } as const
      try {
        const tokens = await grant.obtain(request)
        caller.report({ ...about, outcome: 'issued' })
        return tokens
      } catch (error) {
        caller.report({ ...about, outcome: 'failed', reason: authErrorText(error) })
        throw error
      }
    },
  }
}
