import type { Credentials } from '../../../mcp/credentials.ts'
import { checkOptions } from '../../../util/options.ts'
import { AuthError } from '../../auth-error.ts'
import type { TokenResponse } from '../../documents/token-response.ts'
import { checkAddress } from '../options.ts'
import { type Discovery, findServerMetadata } from '../protocol/discovery.ts'
import { requestTokens } from '../protocol/token-request.ts'
import {
  type MachineClientOptions,
  machineClient,
  machineClientTable,
  machineTable,
} from './client-credentials.ts'
import { metadataOf, tokenExchange } from './enterprise.ts'
import { type MachineOptions, machineCredentials } from './machine-credentials.ts'

/** The token of a caller, for which another token is wanted. */
export interface SubjectToken {
  /** The token of the caller. */
  readonly token: string
  /** When it expires, in milliseconds since 1970. No token that it is exchanged for is used longer. */
  readonly expiresAt?: number
}

/** Options of {@link exchange}. */
export interface ExchangeOptions extends MachineOptions, MachineClientOptions {
  /** The token endpoint of the authorization server, instead of `issuer`. */
  readonly tokenEndpoint?: string
  /** Returns the token of the caller, on whose behalf requests are made. */
  readonly subjectToken: () => SubjectToken | Promise<SubjectToken>
  /** The type of that token; an access token by default. */
  readonly subjectTokenType?: string
  /** The logical name of the server that the new token is for, if the authorization server wants one. */
  readonly audience?: string
  /** Returns the token of this program, if the new token is to name it as the actor. */
  readonly actorToken?: () => string | Promise<string>
}

const accessToken = 'urn:ietf:params:oauth:token-type:access_token'

/**
 * Makes credentials that act for a caller: the token of the caller is exchanged for one that is meant for the server
 * (RFC 8693), so that the server never sees the token that the caller sent. Make one per caller. Nothing else is
 * sent if the exchange fails. Throws a TypeError for invalid options.
 */
export function exchange(options: ExchangeOptions): Credentials {
  const { issuer, tokenEndpoint, subjectToken, subjectTokenType = accessToken } = options
  const { audience, actorToken, resource } = options
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
  if (subjectToken === undefined) throw new TypeError('option "subjectToken" is missing')
  checkAddress('tokenEndpoint', tokenEndpoint)
  const client = machineClient(options)
  return machineCredentials(
    {
      clientId: client.clientId,
      // Nothing that the server says decides where the caller's token goes.
      prepare: async (server, network): Promise<Discovery> => ({
        resource: resource || server.href,
        audience: resource === false ? undefined : (resource ?? server.href),
        scopesSupported: undefined,
        requiresDpop: false,
        metadata:
          tokenEndpoint === undefined
            ? await findServerMetadata(issuer ?? '', {
                network,
                isStrict: false,
                signal: undefined,
              })
            : metadataOf(issuer ?? tokenEndpoint, tokenEndpoint),
        hasDefaultEndpoints: false,
      }),
      obtain: async ({ discovery, scopes, network, nonces, dpop, signal }) => {
        const subject = await subjectToken()
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
            scope: scopes.length === 0 ? undefined : scopes.join(' '),
          },
          dpop,
          nonces,
          signal,
        })
        return notLongerThan(tokens, subject)
      },
    },
    // The authorization server is the choice of the operator, wherever it is.
    { ...options, network: { reach: 'loopback', ...options.network } },
  )
}

/** Limits the lifetime of a token to that of the caller's. Throws an AuthError if it is the caller's own token. */
function notLongerThan(tokens: TokenResponse, { token, expiresAt }: SubjectToken): TokenResponse {
  if (tokens.accessToken === token)
    throw new AuthError('token', 'the authorization server returned the token of the caller itself')
  if (expiresAt === undefined) return tokens
  const leftSeconds = Math.max(0, (expiresAt - Date.now()) / 1000)
  const { expiresIn = leftSeconds } = tokens
  return { ...tokens, expiresIn: Math.min(expiresIn, leftSeconds) }
}
