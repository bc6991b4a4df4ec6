import { revoke } from '../../../auth/client/login/login.ts'
import { fileStore } from '../../../auth/client/store/file-store.ts'
import { storedLogins } from '../../../auth/client/store/stored-logins.ts'
import { type UserGrant, Vault } from '../../../auth/connect/vault.ts'
import { scopeText } from '../../../auth/documents/scope.ts'
import type { AuditSink, GrantAudit } from '../../../observe/audit/record.ts'
import { keysVariable, parseKeys } from '../../../util/crypto/key-text.ts'
import { createSealer } from '../../../util/crypto/seal.ts'
import { addressText } from '../../../util/text/address-text.ts'
import { withAuditLog } from '../../access/command-audit.ts'
import { exitCodes, UsageError, withUsageErrors } from '../../exit.ts'
import { grantText } from '../../grant-text.ts'
import type { Invocation, Run } from '../../invocation.ts'
import { readKeyFile } from '../../key-file.ts'

/** `trunkline grants`: lists the stored logins, or what users have granted a router, without tokens; revokes the latter. */
export const run: Run = async invocation => {
  const { input, terminal } = invocation
  const [action = 'list', server] = input.operands
  if (action !== 'list' && action !== 'revoke')
    throw new UsageError(`grants: "${action}" is neither list nor revoke`)
  const vault = await vaultOf(invocation)
  if (action === 'revoke')
    return withAuditLog(invocation, audit => revokeGrants(invocation, vault, server, audit))
  if (server !== undefined) throw new UsageError('grants list takes no server')
  const grants = vault === undefined ? await storedLogins(fileStore()) : await vault.list()
  const name = vault === undefined ? 'logins' : 'grants'
  if (input.has('json')) terminal.json({ [name]: grants })
  else for (const grant of grants) terminal.line(grantText(grant, Date.now()))
  if (grants.length > 0) return exitCodes.ok
  if (vault === undefined) terminal.note('no logins; "trunkline login URL" makes one')
  else terminal.note('no grants that these keys open')
  return exitCodes.ok
}

/** Revokes grants at their authorization servers, where that is possible, and removes them. */
async function revokeGrants(
  { input, terminal }: Invocation,
  vault: Vault | undefined,
  server: string | undefined,
  audit: AuditSink | undefined,
): Promise<number> {
  if (vault === undefined)
    throw new UsageError('grants revoke needs --vault; "trunkline logout" ends a login of your own')
  const user = input.value('user')
  if (server === undefined && user === undefined)
    throw new UsageError('name the server or the user whose grants to revoke: SERVER or --user')
  const isMeant = (grant: UserGrant): boolean =>
    (server === undefined || grant.server === server) &&
    (user === undefined || grant.principal === user)
  const revoked = (await vault.list()).filter(isMeant)
  for (const grant of revoked) {
    await revoke(grant.server, { store: vault.of(grant.principal) })
    await audit?.record(revocationOf(grant))
  }
  const shown = revoked.map(({ principal, server: at }) => ({ principal, server: at }))
  if (input.has('json')) terminal.json({ revoked: shown })
  else
    for (const { principal, server: at } of shown) terminal.line(`revoked: ${principal} at ${at}`)
  if (shown.length === 0) terminal.note('there is no such grant; "trunkline grants list" has all')
  return exitCodes.ok
}

function revocationOf({ principal, server, issuer, scopes }: UserGrant): GrantAudit {
  return {
    event: 'grant',
    outcome: 'revoked',
    principal,
    address: addressText(server),
    issuer,
    scope: scopeText(scopes),
  }
}

/** Opens the vault of a router; undefined if none is named. Throws a UsageError without the keys of the router. */
async function vaultOf({ input, env }: Invocation): Promise<Vault | undefined> {
  const folder = input.value('vault')
  if (folder === undefined) return undefined
  const file = input.value('keys')
  const text = env[keysVariable]?.trim()
  if (file === undefined && !text)
    throw new UsageError(`--vault needs the keys of the router: set ${keysVariable} or --keys`)
  const keys = await withUsageErrors(() =>
    file === undefined ? parseKeys(text ?? '') : readKeyFile(file),
  )
  return new Vault(fileStore(folder), createSealer({ keys }))
}
