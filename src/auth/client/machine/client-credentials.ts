import type { Credentials } from '../../../mcp/credentials.ts'
import { checkOptions, type OptionTableOf } from '../../../util/options.ts'
import { checkAddress, networkTable } from '../options.ts'
import type { OAuthClient, PrivateKey } from '../protocol/client-authentication.ts'
import { requestTokens } from '../protocol/token-request.ts'
import { type MachineOptions, machineCredentials } from './machine-credentials.ts'

/** A program that is registered with an authorization server. */
export interface MachineClientOptions {
  /** The id of this program. */
  readonly clientId: string
  /** The secret of this program. Set `issuer` with it, so that no other authorization server ever gets it. */
  readonly clientSecret?: string
  /** The private key of this program, instead of a secret: PEM text, a JWK or a CryptoKey. */
  readonly privateKey?: PrivateKey
  /** The algorithm of the private key; that of the JWK, or ES256 by default. */
  readonly algorithm?: string
}

/** Options of {@link clientCredentials}. */
export interface ClientCredentialsOptions extends MachineOptions, MachineClientOptions {}

/** Table of `MachineOptions`, for `checkOptions`. */
export const machineTable: OptionTableOf<MachineOptions> = {
  issuer: 'string',
  scopes: 'strings',
  scopesAllowed: 'strings',
  // A string or false.
  resource: 'any',
  dpop: ['auto', 'always', 'never'],
  strict: 'boolean',
  network: networkTable,
}

/** Table of `MachineClientOptions`, for `checkOptions`. */
export const machineClientTable: OptionTableOf<MachineClientOptions> = {
  clientId: 'string',
  clientSecret: 'string',
  // A string or an object.
  privateKey: 'any',
  algorithm: 'string',
}

/**
 * Makes credentials of a program that acts for itself: it authenticates with a secret or a private key, and no user
 * is involved (the client credentials grant). Tokens are requested anew before they expire. Throws a TypeError
 * for invalid options.
 */
export function clientCredentials(options: ClientCredentialsOptions): Credentials {
  checkOptions(options, { ...machineTable, ...machineClientTable })
  const client = machineClient(options)
  if (client.clientSecret === undefined && client.privateKey === undefined)
    throw new TypeError('clientCredentials requires "clientSecret" or "privateKey"')
  return machineCredentials(
    {
      clientId: client.clientId,
      obtain: ({ discovery, scopes, network, nonces, dpop, signal }) =>
        requestTokens({
          network,
          metadata: discovery.metadata,
          client,
          form: {
            grant_type: 'client_credentials',
            scope: scopes.length === 0 ? undefined : scopes.join(' '),
            resource: discovery.audience,
          },
          dpop,
          nonces,
          signal,
        }),
    },
    options,
  )
}

/** Returns the client of options. Throws a TypeError if it has no id. */
export function machineClient(options: MachineClientOptions & MachineOptions): OAuthClient {
  const { clientId, clientSecret, privateKey, algorithm } = options
  if (typeof clientId !== 'string' || clientId === '')
    throw new TypeError('option "clientId" is missing')
  checkAddress('issuer', options.issuer)
  return { clientId, clientSecret, privateKey, algorithm }
}
