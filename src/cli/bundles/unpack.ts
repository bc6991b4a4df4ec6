import { createHash } from 'node:crypto'
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Environment } from '../../router/config/env.ts'
import { randomHex } from '../../util/random.ts'
import { homeOf } from '../target/places.ts'
import { readZip } from './zip.ts'

/**
 * Unpacks a bundle into the cache of the user and returns the folder. The folder is named by the digest of the
 * bundle, so an unchanged bundle is unpacked once, and another version does not disturb a server that runs. Rejects
 * with an Error whose message is the reason, and leaves nothing behind.
 */
export async function unpackBundle(archive: Buffer, env: Environment): Promise<string> {
  const digest = createHash('sha256').update(archive).digest('hex').slice(0, 32)
  const folder = join(cacheOf(env), digest)
  if (await exists(folder)) return folder
  const entries = readZip(archive)
  const draft = `${folder}.${randomHex(8)}.new`
  try {
    for (const { name, isExecutable, read } of entries) {
      const path = join(draft, ...name.split('/'))
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await writeFile(path, await read(), { flag: 'wx', mode: isExecutable ? 0o700 : 0o600 })
    }
    // Another process may have unpacked the same bundle meanwhile.
    await rename(draft, folder).catch(async error => {
      if (!(await exists(folder))) throw error
    })
    return folder
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Returns the folder for unpacked bundles. */
function cacheOf(env: Environment): string {
  const home = homeOf(env)
  const base =
    process.platform === 'win32'
      ? env.LOCALAPPDATA || join(home, 'AppData', 'Local')
      : env.XDG_CACHE_HOME || join(home, '.cache')
  return join(base, 'trunkline', 'bundles')
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
