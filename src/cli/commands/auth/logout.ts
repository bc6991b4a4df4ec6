import { revoke } from '../../../auth/client/login/login.ts'
import { fileStore } from '../../../auth/client/store/file-store.ts'
import { storedLogins } from '../../../auth/client/store/stored-logins.ts'
import { exitCodes, UsageError } from '../../exit.ts'
import type { Invocation, Run } from '../../invocation.ts'
import { loginTarget } from '../../target/authorization.ts'
import { lookUpServers } from '../../target/config-servers.ts'
import { resolveTarget } from '../../target/target.ts'

/** `trunkline logout`: revokes the tokens of a login, where the authorization server allows it, and removes them. */
export const run: Run = async invocation => {
  const { input, terminal } = invocation
  const store = fileStore()
  const removed: string[] = []
  for (const server of await serversOf(invocation)) {
    if (await revoke(server, { store })) removed.push(server)
  }
  if (input.has('json')) terminal.json({ removed })
  else for (const server of removed) terminal.line(`logged out: ${server}`)
  if (removed.length === 0) terminal.note('there is no login to remove')
  return exitCodes.ok
}

async function serversOf({ input }: Invocation): Promise<readonly string[]> {
  if (!input.has('all')) {
    const { target } = await resolveTarget(input, lookUpServers)
    return [loginTarget(target).href]
  }
  if (input.operands.length > 0) throw new UsageError('give one server, or --all')
  const logins = await storedLogins(fileStore())
  return logins.map(({ server }) => server)
}
