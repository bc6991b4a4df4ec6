import type { Credentials } from '../../../mcp/credentials.ts'
import { checkOptions } from '../../../util/options.ts'
import { requestTokens } from '../protocol/token-request.ts'
import { machineClient, machineTable } from './client-credentials.ts'
import { type MachineOptions, machineCredentials } from './machine-credentials.ts'

/** What an assertion of a workload is requested for. */
export interface AssertionRequest {
  /** The authorization server that will read the assertion. */
  readonly issuer: string
  /** The resource that a token is wanted for. */
  readonly resource: string
}

/** Options of {@link workload}. */
export interface WorkloadOptions extends MachineOptions {
  /** The id of this program. */
  readonly clientId: string
  /** Returns the identity token that the platform has issued to this program, for example by reading a file. */
  readonly assertion: (request: AssertionRequest) => string | Promise<string>
}

/** The grant type of an assertion (RFC 7523). */
export const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/**
 * Makes credentials of a workload, which its platform gives an identity: the token of the platform is exchanged for
 * one of the authorization server (RFC 7523). A refused assertion is final: nothing else is tried. Throws a
 * TypeError for invalid options.
 */
export function workload(options: WorkloadOptions): Credentials {
  const { assertion } = options
  checkOptions(options, { ...machineTable, clientId: 'string', assertion: 'function' })
  if (assertion === undefined) throw new TypeError('option "assertion" is missing')
  const { clientId } = machineClient(options)
  return machineCredentials(
    {
      clientId,
      obtain: async ({ discovery, scopes, network, nonces, dpop, signal }) =>
        requestTokens({
          network,
          metadata: discovery.metadata,
          client: { clientId },
          form: {
            grant_type: jwtBearer,
            assertion: await assertion({
              issuer: discovery.metadata.issuer,
              resource: discovery.resource,
            }),
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
