import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { recordKeys } from './records.ts'

/** Returns the folder in which the command line stores tokens. */
export function tokenFolder(
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform: string = process.platform,
): string {
  const home = homedir()
  const { XDG_STATE_HOME: state } = env
  // Set on other systems too by those who want it everywhere.
  if (state) return join(state, 'trunkline', 'tokens')
  if (platform === 'win32')
    return join(env.LOCALAPPDATA ?? join(home, 'AppData', 'Local'), 'trunkline', 'tokens')
  if (platform === 'darwin')
    return join(home, 'Library', 'Application Support', 'trunkline', 'tokens')
  return join(home, '.local', 'state', 'trunkline', 'tokens')
}

/** Returns the path of the file that holds the value of a key. */
export function entryPath(folder: string, key: string): string {
  return join(folder, `${digest(key)}.json`)
}

/** Returns the path of the lock of a key. */
export function lockPath(folder: string, key: string): string {
  return join(folder, `${digest(key)}.lock`)
}

/**
 * Whether the command line has stored a login for a server. Reads nothing, so that a program without a login need not
 * load the rest of this folder.
 */
export function hasStoredLogin(server: string): boolean {
  return existsSync(entryPath(tokenFolder(), recordKeys.login(server)))
}

function digest(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}
