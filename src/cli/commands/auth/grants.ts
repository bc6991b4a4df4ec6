import { fileStore } from '../../../auth/client/store/file-store.ts'
import { storedLogins } from '../../../auth/client/store/stored-logins.ts'
import { exitCodes } from '../../exit.ts'
import { grantText } from '../../grant-text.ts'
import type { Run } from '../../invocation.ts'

/** `trunkline grants`: lists the stored logins, without their tokens. */
export const run: Run = async ({ input, terminal }) => {
  const logins = await storedLogins(fileStore())
  if (input.has('json')) terminal.json({ logins })
  else for (const login of logins) terminal.line(grantText(login, Date.now()))
  if (logins.length === 0) terminal.note('no logins; "trunkline login URL" makes one')
  return exitCodes.ok
}
