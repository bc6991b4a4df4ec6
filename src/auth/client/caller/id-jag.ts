import type { Principal } from '../../../jsonrpc/channel.ts'
import type { CallerCredentials } from '../../../mcp/callers/caller-credentials.ts'
import { checkOptions } from '../../../util/options.ts'
import { AuthError } from '../../auth-error.ts'
import { readExchangedAssertion } from '../../documents/token-response.ts'
import { machineClientTable, machineTable } from '../machine/client-credentials.ts'
import {
  checkIdentityProvider,
  type EnterpriseOptions,
  enterpriseGrant,
  idTokenType,
  tokenExchange,
} from '../machine/enterprise.ts'
import {
  type MachineGrant,
  type MachineRequest,
  machineCredentials,
} from '../machine/machine-credentials.ts'
import { requestGrant } from '../protocol/token-request.ts'
import { CredentialsByCaller } from './credentials-by-caller.ts'
import { KnownServer } from './known-server.ts'
import { reportedGrant } from './reported-grant.ts'
import { notLongerThan, subjectTokenOf } from './subject-token.ts'

/** Options of {@link idJag}. */
export interface IdJagOptions extends Omit<EnterpriseOptions, 'idToken'> {
  /**
   * The claim of a caller's token that has its ID token. By default the identity provider, which has issued the token of
   * the caller, is asked for an ID token in exchange (RFC 8693).
   */
  readonly idTokenFrom?: string
}

/**
 * Makes credentials that act for callers of an enterprise (enterprise-managed authorization): the identity provider
 * vouches for the caller to the authorization server of the MCP server, which issues the token. Each caller has tokens
 * of its own, which are never used for longer than the token of the caller. A caller without an ID token is refused.
 * Throws a TypeError for invalid options.
 */
export function idJag(options: IdJagOptions): CallerCredentials {
  const own = { idp: 'object', idTokenFrom: 'string' } as const
  checkOptions(options, { ...machineTable, ...machineClientTable, ...own })
  checkIdentityProvider(options)
  const { idTokenFrom, ...enterprise } = options
  const { issuer, tokenEndpoint } = options.idp
  const provider = new KnownServer({ issuer, tokenEndpoint })
  return new CredentialsByCaller(caller => {
    const idTokenOf = async (request: MachineRequest): Promise<string> =>
      idTokenFrom === undefined
        ? exchangedIdToken(caller.newest(), options, provider, request)
        : claimedIdToken(caller.newest(), idTokenFrom)
    const grant = enterpriseGrant(enterprise, idTokenOf)
    const limited: MachineGrant = {
      ...grant,
      obtain: async request => notLongerThan(await grant.obtain(request), caller.newest()),
    }
    return machineCredentials(reportedGrant(limited, 'id-jag', caller), enterprise)
  })
}

/** Returns the ID token in a claim. Throws an AuthError `'login-required'` if there is none. */
function claimedIdToken({ claims }: Principal, name: string): string {
  const token = claims !== undefined && Object.hasOwn(claims, name) ? claims[name] : undefined
  if (typeof token === 'string') return token
  throw new AuthError('login-required', `the token of the caller has no ID token in "${name}"`)
}

/** Exchanges the token of a caller for an ID token, at the identity provider that has issued it. */
async function exchangedIdToken(
  principal: Principal,
  { idp }: IdJagOptions,
  provider: KnownServer,
  { network, nonces, signal }: MachineRequest,
): Promise<string> {
  const { token } = subjectTokenOf(principal)
  const answer = await requestGrant({
    network,
    metadata: await provider.metadata(network),
    client: { clientId: idp.clientId, clientSecret: idp.clientSecret },
    form: {
      grant_type: tokenExchange,
      requested_token_type: idTokenType,
      subject_token: token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    },
    nonces,
    signal,
  })
  return readExchangedAssertion(answer, idTokenType)
}
