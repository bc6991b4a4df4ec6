import { isRecord } from '../../../util/objects.ts'
import { AuthError } from '../../auth-error.ts'
import type { ServerMetadata } from '../../documents/server-metadata.ts'
import { descriptionIn, errorIn } from '../../documents/token-response.ts'
import type { GuardedNetwork } from '../../network/guarded-network.ts'
import type { OAuthSettings } from '../options.ts'
import {
  type RegistrationRecord,
  readRegistration,
  recordKeys,
  writeRegistration,
} from '../store/records.ts'
import type { OAuthClient } from './client-authentication.ts'
import { dpopAlgorithm } from './dpop.ts'
import { jsonOf } from './token-request.ts'

/** A client, and where the browser returns to after a login. */
export interface RegisteredClient {
  readonly client: OAuthClient
  readonly redirectUri: string
}

/** What a registration needs. */
export interface RegistrationRequest {
  readonly settings: OAuthSettings
  readonly network: GuardedNetwork
  readonly metadata: ServerMetadata
  /** The addresses that the browser may return to, the preferred one first. */
  readonly redirectUris: readonly string[]
  readonly signal: AbortSignal | undefined
}

/**
 * Finds out as which client to log in: one that was registered by hand, the URL of a metadata document, a stored
 * registration, or a new one (RFC 7591), in this order. Rejects with an AuthError `'registration'` if there is no way.
 */
export async function registeredClient(request: RegistrationRequest): Promise<RegisteredClient> {
  const { settings, metadata } = request
  const [redirectUri = ''] = request.redirectUris
  if (settings.client !== undefined) return { client: settings.client, redirectUri }
  const { clientMetadataUrl } = settings
  if (metadata.acceptsMetadataUrls && clientMetadataUrl !== undefined)
    return { client: { clientId: clientMetadataUrl }, redirectUri }
  const { issuer } = metadata
  return settings.store.exclusive(recordKeys.registration(issuer), async () => {
    const known = await readRegistration(settings.store, issuer)
    const usable = known && usableUri(known, request.redirectUris)
    if (known !== undefined && usable !== undefined)
      return { client: clientOf(known), redirectUri: usable }
    const record = await register(request)
    await writeRegistration(settings.store, record)
    return { client: clientOf(record), redirectUri: record.redirectUris[0] ?? redirectUri }
  })
}

/** Returns the client of a registration. */
export function clientOf({ clientId, clientSecret, authMethod }: RegistrationRecord): OAuthClient {
  return { clientId, clientSecret, authMethod }
}

/** Returns the redirect address of a registration that can still be used; undefined if it has to be renewed. */
function usableUri(
  { redirectUris, clientSecret, secretExpiresAt }: RegistrationRecord,
  available: readonly string[],
): string | undefined {
  const isExpired =
    clientSecret !== undefined && secretExpiresAt !== undefined && secretExpiresAt <= Date.now()
  return isExpired ? undefined : available.find(uri => redirectUris.includes(uri))
}

async function register(request: RegistrationRequest): Promise<RegistrationRecord> {
  const { metadata, redirectUris } = request
  const { issuer, registrationEndpoint } = metadata
  if (registrationEndpoint === undefined) {
    const words = `${issuer} does not register clients; register one by hand with the redirect address ${redirectUris[0]} and pass its id as "clientId"`
    throw new AuthError('registration', words, { issuer })
  }
  const [first = '', second] = redirectUris
  const url = new URL(registrationEndpoint)
  const answer = await send(url, first, request)
  // Some servers accept only one of the two names of this machine.
  const isUriRefused = second !== undefined && answer.error === 'invalid_redirect_uri'
  const { record, error, why } = isUriRefused ? await send(url, second, request) : answer
  if (record !== undefined) return record
  throw new AuthError('registration', `${issuer} refuses to register this client: ${why}`, {
    issuer,
    error,
  })
}

interface Registration {
  readonly record?: RegistrationRecord
  readonly error?: string
  readonly why?: string
}

async function send(
  url: URL,
  redirectUri: string,
  request: RegistrationRequest,
): Promise<Registration> {
  const { network, metadata, signal } = request
  const response = await network.post(url, registrationOf(redirectUri, request), {}, signal)
  const { status } = response
  const body = jsonOf(response)
  if (status === 429 || status >= 500) {
    const words = `the registration endpoint of ${metadata.issuer} answered ${status}`
    throw new AuthError('unreachable', words, { issuer: metadata.issuer })
  }
  const isAccepted = status === 200 || status === 201
  if (!isAccepted || !isRecord(body) || typeof body.client_id !== 'string') {
    const error = errorIn(body)
    return { error, why: `${error ?? `it answered ${status}`}${descriptionIn(body)}` }
  }
  const { client_id, client_secret, client_secret_expires_at: expiresAt } = body
  const { token_endpoint_auth_method: authMethod } = body
  return {
    record: {
      issuer: metadata.issuer,
      clientId: client_id as string,
      clientSecret: typeof client_secret === 'string' ? client_secret : undefined,
      // 0 means never.
      secretExpiresAt:
        typeof expiresAt === 'number' && expiresAt > 0 ? expiresAt * 1000 : undefined,
      authMethod: typeof authMethod === 'string' ? authMethod : undefined,
      redirectUris: [redirectUri],
    },
  }
}

function registrationOf(redirectUri: string, request: RegistrationRequest): object {
  const { settings, metadata } = request
  const { idTokenAlgorithms = [] } = metadata
  const [algorithm] = idTokenAlgorithms
  // Without it RS256 would be registered, which such a server refuses.
  const isAlgorithmNeeded = algorithm !== undefined && !idTokenAlgorithms.includes('RS256')
  const known = ['none', 'client_secret_basic', 'client_secret_post']
  const { authMethods = known } = metadata
  return {
    ...clientMetadata(settings, [redirectUri]),
    token_endpoint_auth_method: known.find(method => authMethods.includes(method)) ?? 'none',
    // No scopes: a client that is registered with some can never get others later.
    ...(settings.dpop === 'always' && { dpop_bound_access_tokens: true }),
    ...(isAlgorithmNeeded && {
      id_token_signed_response_alg: idTokenAlgorithms.includes(dpopAlgorithm)
        ? dpopAlgorithm
        : algorithm,
    }),
  }
}

/** Returns the metadata by which a client of this library is registered. */
export function clientMetadata(
  { clientName, applicationType }: Pick<OAuthSettings, 'clientName' | 'applicationType'>,
  redirectUris: readonly string[],
): object {
  return {
    client_name: clientName,
    redirect_uris: redirectUris,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: applicationType,
  }
}
