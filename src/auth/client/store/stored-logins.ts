import { readLogin, readTokens, recordKeys } from './records.ts'
import type { TokenStore } from './token-store.ts'

/** A login in a store, without its tokens. */
export interface StoredLogin {
  /** The address of the server. */
  readonly server: string
  readonly issuer: string
  readonly resource: string
  readonly clientId: string
  readonly scopes: readonly string[]
  /** When the access token expires, in milliseconds since 1970; undefined if that is unknown. */
  readonly expiresAt?: number
  /** Whether the token can be renewed without the user. */
  readonly isRenewable: boolean
}

/** Lists the logins of a store, in the order of their servers. A login whose tokens were removed has no scopes. */
export async function storedLogins(store: TokenStore): Promise<readonly StoredLogin[]> {
  const prefix = recordKeys.login('')
  const keys = (await store.keys?.()) ?? []
  const servers = keys.filter(key => key.startsWith(prefix)).map(key => key.slice(prefix.length))
  const found = await Promise.all(servers.sort().map(server => storedLogin(store, server)))
  return found.filter(login => login !== undefined)
}

/** Returns the login at a server; undefined if there is none. */
export async function storedLogin(
  store: TokenStore,
  server: string,
): Promise<StoredLogin | undefined> {
  const login = await readLogin(store, server)
  if (login === undefined) return undefined
  const { scopes = [], expiresAt, refreshToken } = (await readTokens(store, login))?.record ?? {}
  const { issuer, resource, clientId } = login
  const isRenewable = refreshToken !== undefined
  return { server, issuer, resource, clientId, scopes, expiresAt, isRenewable }
}
