import { constants, type Stats } from 'node:fs'
import { lstat, mkdir, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { withLock } from '../../../util/files/file-lock.ts'
import { replacePrivateFile } from '../../../util/files/replace-file.ts'
import { limits } from '../../../util/limits/limits.ts'
import { isRecord } from '../../../util/objects.ts'
import { AuthError } from '../../auth-error.ts'
import { entryPath, lockPath, tokenFolder } from './node-token-folder.ts'
import type { TokenStore } from './token-store.ts'

/** Opens the store in a folder, which is created when something is stored. */
export function openFileStore(
  folder: string = tokenFolder(),
  lockMs: number = limits.storeLockMs.default,
): TokenStore {
  const pathOf = (key: string) => entryPath(folder, key)
  const get = async (key: string): Promise<string | undefined> => {
    const entry = await readEntry(folder, pathOf(key))
    return entry?.key === key ? entry.value : undefined
  }
  return {
    get,
    set: async (key, value) => {
      await prepare(folder)
      await replacePrivateFile(pathOf(key), JSON.stringify({ key, value }))
    },
    remove: async (key, value) => {
      if (value !== undefined && (await get(key)) !== value) return
      await rm(pathOf(key), { force: true })
    },
    exclusive: async (key, work) => {
      await prepare(folder)
      return withLock(lockPath(folder, key), lockMs, work)
    },
    keys: async () => {
      const names = await readdir(folder).catch(() => [])
      const files = names.filter(name => /^[\da-f]{64}\.json$/.test(name))
      const entries = await Promise.all(files.map(name => readEntry(folder, join(folder, name))))
      return entries.flatMap(entry => (entry === undefined ? [] : [entry.key]))
    },
  }
}

interface Entry {
  readonly key: string
  readonly value: string
}

async function prepare(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await checkFolder(folder)
}

/** Throws unless the folder is one of the user that nobody else can enter. */
async function checkFolder(folder: string): Promise<void> {
  const found = await lstat(folder)
  if (!found.isDirectory()) throw unsafe(folder, 'it is a link or a file, not a folder')
  checkOwner(found, folder, 'chmod 700')
}

async function readEntry(folder: string, path: string): Promise<Entry | undefined> {
  try {
    await checkFolder(folder)
    return await read(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    if (codeOf(error) === 'ELOOP') throw unsafe(path, 'it is a link')
    throw error
  }
}

async function read(path: string): Promise<Entry | undefined> {
  const file = await open(path, constants.O_RDONLY | noFollow)
  try {
    const found = await file.stat()
    if (!found.isFile()) throw unsafe(path, 'it is not a file')
    checkOwner(found, path, 'chmod 600')
    return entryOf(await file.readFile('utf8'))
  } finally {
    await file.close()
  }
}

/** Parses an entry; a file that is none, because somebody has edited it, counts as absent. */
function entryOf(text: string): Entry | undefined {
  let entry: unknown
  try {
    entry = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(entry)) return undefined
  const { key, value } = entry
  return typeof key === 'string' && typeof value === 'string' ? { key, value } : undefined
}

// Windows has no O_NOFOLLOW, and no owners and modes that Node.js can read.
const noFollow = constants.O_NOFOLLOW ?? 0

function checkOwner({ uid, mode }: Stats, path: string, command: string): void {
  if (process.platform === 'win32') return
  if (uid !== process.getuid?.()) throw unsafe(path, 'it belongs to another user')
  if ((mode & 0o077) !== 0)
    throw unsafe(path, `other users can read or change it; run: ${command} ${JSON.stringify(path)}`)
}

function unsafe(path: string, why: string): AuthError {
  return new AuthError('insecure', `the token store ${path} is not safe: ${why}`)
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
