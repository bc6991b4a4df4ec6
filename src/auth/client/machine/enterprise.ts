import type { Credentials } from '../../../mcp/credentials.ts'
import { checkOptions, type OptionTableOf } from '../../../util/options.ts'
import { AuthError } from '../../auth-error.ts'
import { readJwt } from '../../documents/jwt-parts.ts'
import { scopeText } from '../../documents/scope.ts'
import type { ServerMetadata } from '../../documents/server-metadata.ts'
import { readExchangedAssertion } from '../../documents/token-response.ts'
import { checkAddress } from '../options.ts'
import type { OAuthClient } from '../protocol/client-authentication.ts'
import { findServerMetadata } from '../protocol/discovery.ts'
import { requestGrant, requestTokens } from '../protocol/token-request.ts'
import {
  type MachineClientOptions,
  machineClient,
  machineClientTable,
  machineTable,
} from './client-credentials.ts'
import {
  type MachineGrant,
  type MachineOptions,
  type MachineRequest,
  machineCredentials,
} from './machine-credentials.ts'
import { jwtBearer } from './workload.ts'

/** The identity provider at which the users of an enterprise log in. */
export interface IdentityProvider {
  /** Its issuer, whose metadata name the token endpoint. */
  readonly issuer?: string
  /** Its token endpoint, instead of `issuer`. */
  readonly tokenEndpoint?: string
  /** The id of this client at the identity provider. */
  readonly clientId: string
  /** The secret of this client at the identity provider. */
  readonly clientSecret?: string
}

/** Options of {@link enterprise}. */
export interface EnterpriseOptions extends MachineOptions, MachineClientOptions {
  /** The identity provider, which decides whether the user may use the server. */
  readonly idp: IdentityProvider
  /** The ID token of the user, from a login at the identity provider, or a function that returns the current one. */
  readonly idToken: string | (() => string | undefined | Promise<string | undefined>)
}

const idpTable: OptionTableOf<IdentityProvider> = {
  issuer: 'string',
  tokenEndpoint: 'string',
  clientId: 'string',
  clientSecret: 'string',
}

/** The type of an ID token in a token exchange. */
export const idTokenType = 'urn:ietf:params:oauth:token-type:id_token'

/** The type of an assertion to another authorization server, in a token exchange. */
export const idJagType = 'urn:ietf:params:oauth:token-type:id-jag'

/**
 * Makes credentials of a user of an enterprise (enterprise-managed authorization): the identity provider exchanges
 * the user's ID token for an assertion to the authorization server of the MCP server, which issues the token. No
 * consent is asked for at the server. Throws a TypeError for invalid options.
 */
export function enterprise(options: EnterpriseOptions): Credentials {
  const { idToken } = options
  const own = { idp: idpTable, idToken: 'any' } as const
  checkOptions(options, { ...machineTable, ...machineClientTable, ...own })
  if (idToken === undefined) throw new TypeError('option "idToken" is missing')
  checkIdentityProvider(options)
  const idTokenOf = async () => (typeof idToken === 'function' ? idToken() : idToken)
  return machineCredentials(enterpriseGrant(options, idTokenOf), options)
}

/** Throws a TypeError for options that do not say who the identity provider is. */
export function checkIdentityProvider({ idp }: Pick<EnterpriseOptions, 'idp'>): void {
  if (idp?.clientId === undefined) throw new TypeError('option "idp.clientId" is missing')
  if (idp.issuer === undefined && idp.tokenEndpoint === undefined)
    throw new TypeError('option "idp" requires "issuer" or "tokenEndpoint"')
  checkAddress('idp.issuer', idp.issuer)
  checkAddress('idp.tokenEndpoint', idp.tokenEndpoint)
}

/** Returns how tokens are obtained for a user whose ID token `idTokenOf` returns. */
export function enterpriseGrant(
  options: Omit<EnterpriseOptions, 'idToken'>,
  idTokenOf: (request: MachineRequest) => Promise<string | undefined>,
): MachineGrant {
  const { idp } = options
  const client = machineClient(options)
  return {
    clientId: client.clientId,
    obtain: async request => {
      const { discovery, scopes, network, nonces, dpop, signal } = request
      return requestTokens({
        network,
        metadata: discovery.metadata,
        client,
        form: {
          grant_type: jwtBearer,
          assertion: await assertionOf(idp, await idTokenOf(request), request),
          scope: scopeText(scopes),
          resource: discovery.audience,
        },
        dpop,
        nonces,
        signal,
      })
    },
  }
}

/** Exchanges the ID token at the identity provider for an assertion to the authorization server (RFC 8693). */
async function assertionOf(
  idp: IdentityProvider,
  token: string | undefined,
  { discovery, scopes, network, nonces, signal }: MachineRequest,
): Promise<string> {
  const { issuer } = discovery.metadata
  if (token === undefined || isExpired(token)) {
    const words =
      'the user has to log in at the identity provider again: there is no valid ID token'
    throw new AuthError('login-required', words, { issuer: idp.issuer })
  }
  const metadata =
    idp.tokenEndpoint === undefined
      ? await findServerMetadata(idp.issuer ?? '', { network, isStrict: false, signal })
      : metadataOf(idp.issuer ?? idp.tokenEndpoint, idp.tokenEndpoint)
  const client: OAuthClient = { clientId: idp.clientId, clientSecret: idp.clientSecret }
  const answer = await requestGrant({
    network,
    metadata,
    client,
    form: {
      grant_type: tokenExchange,
      requested_token_type: idJagType,
      audience: issuer,
      resource: discovery.audience,
      scope: scopeText(scopes),
      subject_token: token,
      subject_token_type: idTokenType,
    },
    nonces,
    signal,
  })
  return readExchangedAssertion(answer, idJagType)
}

/** The grant type of a token exchange (RFC 8693). */
export const tokenExchange = 'urn:ietf:params:oauth:grant-type:token-exchange'

/** Returns the metadata of an authorization server of which only the token endpoint is known. */
export function metadataOf(issuer: string, tokenEndpoint: string): ServerMetadata {
  return {
    issuer,
    tokenEndpoint,
    authorizationEndpoint: undefined,
    sendsIssuer: false,
    acceptsMetadataUrls: false,
  }
}

/** Whether a JWT says that it has expired; false for a token that cannot be read. */
function isExpired(token: string): boolean {
  const exp = readJwt(token)?.payload.exp
  return typeof exp === 'number' && exp * 1000 <= Date.now()
}
