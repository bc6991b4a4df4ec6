import { AuthError } from '../auth-error.ts'
import type { ServerMetadata } from '../documents/server-metadata.ts'
import type { GuardedNetwork } from '../network/guarded-network.ts'
import { isGood } from './held-tokens.ts'
import type { OAuthSettings } from './options.ts'
import type { OAuthClient } from './protocol/client-authentication.ts'
import { DpopKey, type ReceivedNonces } from './protocol/dpop.ts'
import { tokensOf } from './protocol/login-flow.ts'
import { clientOf } from './protocol/registration.ts'
import { requestTokens } from './protocol/token-request.ts'
import {
  type FoundRecord,
  readRegistration,
  readTokens,
  recordKeys,
  type TokenRecord,
  writeTokens,
} from './store/records.ts'

/** What a renewal of tokens needs. */
export interface RefreshRequest {
  readonly settings: OAuthSettings
  readonly network: GuardedNetwork
  readonly nonces: ReceivedNonces
  /** Resolves to the metadata of the authorization server that has issued the tokens. */
  readonly metadata: () => Promise<ServerMetadata>
}

/**
 * Renews tokens, or finds those that another process has renewed. Resolves to undefined if the authorization has
 * ended, so that a user has to log in again; then the tokens are removed from the store, unless somebody has
 * replaced them. After any other failure, with which it rejects, everything is as before.
 *
 * It cannot be aborted: a refresh token may be replaced with every use, and an answer that nobody reads would lose
 * the next one.
 */
export function refreshTokens(
  record: TokenRecord,
  { settings, network, nonces, metadata }: RefreshRequest,
): Promise<FoundRecord<TokenRecord> | undefined> {
  const { store } = settings
  const key = recordKeys.tokens(record)
  return store.exclusive(key, async () => {
    const stored = await readTokens(store, record)
    // Nothing stored: another program has logged out.
    if (stored === undefined) return undefined
    const isReplaced = stored.record.accessToken !== record.accessToken
    if (isReplaced && isGood(stored.record)) return stored
    const { refreshToken, audience, key: jwk } = stored.record
    if (refreshToken === undefined) return undefined
    try {
      const tokens = await requestTokens({
        network,
        metadata: await metadata(),
        client: await clientFor(stored.record, settings),
        form: { grant_type: 'refresh_token', refresh_token: refreshToken, resource: audience },
        dpop: jwk && (await DpopKey.from(jwk, nonces)),
        nonces,
        signal: undefined,
      })
      const renewed = tokensOf(tokens)
      const kept = renewed.refreshToken ?? refreshToken
      const next: TokenRecord = { ...stored.record, ...renewed, refreshToken: kept }
      return { record: next, text: await writeTokens(store, next) }
    } catch (error) {
      if (!isEnd(error)) throw error
      const now = await readTokens(store, record)
      if (now !== undefined && now.record.refreshToken !== refreshToken) return now
      await store.remove(key, now?.text ?? stored.text)
      if (isUnknownClient(error)) await forgetRegistration(record, settings)
      return undefined
    }
  })
}

/** Returns the client that tokens were issued to. */
export async function clientFor(
  { issuer, clientId }: Pick<TokenRecord, 'issuer' | 'clientId'>,
  { client, store }: Pick<OAuthSettings, 'client' | 'store'>,
): Promise<OAuthClient> {
  if (client?.clientId === clientId) return client
  const registration = await readRegistration(store, issuer)
  return registration?.clientId === clientId ? clientOf(registration) : { clientId }
}

/** Whether the authorization server says that the authorization, or the client, does not exist any more. */
function isEnd(error: unknown): error is AuthError {
  return error instanceof AuthError && (error.error === 'invalid_grant' || isUnknownClient(error))
}

function isUnknownClient({ error }: AuthError): boolean {
  return error === 'invalid_client' || error === 'unauthorized_client'
}

/** Removes the registration that the authorization server has forgotten, so that the next login makes a new one. */
async function forgetRegistration(
  { issuer, clientId }: TokenRecord,
  { store }: OAuthSettings,
): Promise<void> {
  const known = await readRegistration(store, issuer)
  if (known?.clientId === clientId) await store.remove(recordKeys.registration(issuer))
}
