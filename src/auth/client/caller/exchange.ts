import type { Principal } from '../../../jsonrpc/channel.ts'
import type { CallerCredentials } from '../../../mcp/callers/caller-credentials.ts'
import type { Credentials } from '../../../mcp/credentials.ts'
import { checkOptions } from '../../../util/options.ts'
import { AuthError } from '../../auth-error.ts'
import { scopeText } from '../../documents/scope.ts'
import type { TokenResponse } from '../../documents/token-response.ts'
import {
  type MachineClientOptions,
  machineClient,
  machineClientTable,
  machineTable,
} from '../machine/client-credentials.ts'
import { tokenExchange } from '../machine/enterprise.ts'
import {
  type MachineGrant,
  type MachineOptions,
  machineCredentials,
} from '../machine/machine-credentials.ts'
import { checkAddress } from '../options.ts'
import { requestTokens } from '../protocol/token-request.ts'
import { type ActedFor, CredentialsByCaller } from './credentials-by-caller.ts'
import { KnownServer } from './known-server.ts'
import { reportedGrant } from './reported-grant.ts'
import { audiencesIn, notLongerThan, type SubjectToken, subjectTokenOf } from './subject-token.ts'

/** Options of {@link exchange}. */
export interface ExchangeOptions extends MachineOptions, MachineClientOptions {
  /** The token endpoint of the authorization server, instead of `issuer`. */
  readonly tokenEndpoint?: string
  /**
   * Returns the token of a caller, on whose behalf requests are made. By default the token by which `auth` of `listen`
   * has authenticated the caller.
   */
  readonly subjectToken?: (principal: Principal) => SubjectToken | Promise<SubjectToken>
  /** The type of that token; an access token by default. */
  readonly subjectTokenType?: string
  /** The logical name of the server that the new token is for, if the authorization server wants one. */
  readonly audience?: string
  /** Returns the token of this program, if the new token is to name it as the actor. */
  readonly actorToken?: () => string | Promise<string>
}

const accessToken = 'urn:ietf:params:oauth:token-type:access_token'

/**
 * Makes credentials that act for callers: the token of a caller is exchanged for one that is meant for the server
 * (RFC 8693), so that the server never sees the token that the caller sent. Each caller has tokens of its own, which are
 * never used for longer than the token of the caller. Nothing else is sent if the exchange fails. Throws a TypeError
 * for invalid options.
 */
export function exchange(options: ExchangeOptions): CallerCredentials {
  const { issuer, tokenEndpoint } = options
  checkOptions(options, {
    ...machineTable,
    ...machineClientTable,
    tokenEndpoint: 'string',
    subjectToken: 'function',
    subjectTokenType: 'string',
    audience: 'string',
    actorToken: 'function',
  })
  if (issuer === undefined && tokenEndpoint === undefined)
    throw new TypeError('exchange requires "issuer" or "tokenEndpoint"')
  checkAddress('tokenEndpoint', tokenEndpoint)
  machineClient(options)
  const authorizationServer = new KnownServer({ issuer, tokenEndpoint })
  return new CredentialsByCaller(caller => exchangeFor(caller, options, authorizationServer))
}

function exchangeFor(
  caller: ActedFor,
  options: ExchangeOptions,
  authorizationServer: KnownServer,
): Credentials {
  const { subjectToken = subjectTokenOf, subjectTokenType = accessToken } = options
  const { audience, actorToken, resource } = options
  const client = machineClient(options)
  const grant: MachineGrant = {
    clientId: client.clientId,
    // Nothing that the server says decides where the caller's token goes.
    prepare: async (server, network) => ({
      resource: resource || server.href,
      audience: resource === false ? undefined : (resource ?? server.href),
      scopesSupported: undefined,
      requiresDpop: false,
      metadata: await authorizationServer.metadata(network),
      hasDefaultEndpoints: false,
    }),
    obtain: async ({ discovery, scopes, network, nonces, dpop, signal }) => {
      const subject = await subjectToken(caller.newest())
      const actor = await actorToken?.()
      const tokens = await requestTokens({
        network,
        metadata: discovery.metadata,
        client,
        form: {
          grant_type: tokenExchange,
          subject_token: subject.token,
          subject_token_type: subjectTokenType,
          actor_token: actor,
          actor_token_type: actor && accessToken,
          requested_token_type: accessToken,
          audience,
          resource: discovery.audience,
          scope: scopeText(scopes),
        },
        dpop,
        nonces,
        signal,
      })
      checkIssued(tokens, subject)
      return notLongerThan(tokens, subject)
    },
  }
  return machineCredentials(
    reportedGrant(grant, 'token-exchange', caller),
    // The authorization server is the choice of the operator, wherever it is.
    { ...options, network: { reach: 'loopback', ...options.network } },
  )
}

/** Throws an AuthError if a token is the caller's own, or is meant for the server that the caller has called. */
function checkIssued({ accessToken: issued }: TokenResponse, { token }: SubjectToken): void {
  if (issued === token)
    throw new AuthError('token', 'the authorization server returned the token of the caller itself')
  const own = audiencesIn(token)
  const shared = audiencesIn(issued).find(audience => own.includes(audience))
  if (shared === undefined) return
  const words = `the authorization server returned a token for ${shared}, which the token of the caller is for`
  throw new AuthError('token', words)
}
