import type { StoredLogin } from '../auth/client/store/stored-logins.ts'
import type { UserGrant } from '../auth/connect/vault.ts'
import { oneLine } from './terminal.ts'

/** Describes a login in one line: the user, if it is a grant, the server, its issuer, the scopes, and how long the token is valid. */
export function grantText(
  { principal, server, issuer, scopes, expiresAt, isRenewable }: StoredLogin & Partial<UserGrant>,
  now: number,
): string {
  const parts = [
    `at ${issuer}`,
    scopes.length === 0 ? 'no scopes' : `scopes ${scopes.join(' ')}`,
    expiryText(expiresAt, now),
    ...(isRenewable ? ['renewed automatically'] : []),
  ]
  const who = principal === undefined ? '' : `${principal} at `
  return oneLine(`${who}${server} (${parts.join(', ')})`, 1000)
}

function expiryText(expiresAt: number | undefined, now: number): string {
  if (expiresAt === undefined) return 'expiry unknown'
  const when = new Date(expiresAt).toISOString().replace(/\.\d+Z$/, 'Z')
  return expiresAt <= now ? `expired ${when}` : `valid until ${when}`
}
