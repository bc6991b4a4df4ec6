import { constants } from 'node:fs'
import { type FileHandle, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { randomHex } from '../random.ts'

/** Options of {@link replaceFile}. */
export interface ReplaceFileOptions {
  /** The permissions of a new file, before the umask; 0o600 by default. An existing file keeps its own. */
  readonly mode?: number
}

/**
 * Replaces the content of a file atomically: readers see the old or the new content, also after a crash.
 *
 * The content is written to a draft beside the file, which then takes its place. The name of the draft is
 * random, and it is never written through a link that another user has put there. If anything fails, the draft
 * is removed and the file is as before. A symbolic link at `path` itself is followed. A device or a pipe is
 * written to as it is.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600 }: ReplaceFileOptions = {},
): Promise<void> {
  const target = await realpath(path).catch(() => path)
  const old = await stat(target).catch(() => undefined)
  if (old !== undefined && !old.isFile() && !old.isDirectory()) return writeFile(target, content)
  await swap(target, content, old === undefined ? mode : 0o600, old?.mode)
}

/**
 * Replaces a file atomically by one that only the user can read, whatever was there before. A symbolic link at
 * `path` is replaced too, and never followed.
 */
export function replacePrivateFile(path: string, content: string): Promise<void> {
  return swap(path, content, 0o600)
}

/** Writes a draft beside the target, which then takes its place. `mode` is set regardless of the umask. */
async function swap(
  target: string,
  content: string | Uint8Array,
  newMode: number,
  mode?: number,
): Promise<void> {
  const draft = `${target}.${randomHex(8)}.new`
  const handle = await open(draft, draftFlags, newMode)
  try {
    await fill(handle, content, mode)
    await rename(draft, target)
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {})
    throw error
  }
}

/** Writes a draft to disk. */
async function fill(
  handle: FileHandle,
  content: string | Uint8Array,
  mode: number | undefined,
): Promise<void> {
  try {
    await handle.writeFile(content)
    if (mode !== undefined) await handle.chmod(mode & 0o777)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

// Windows has no O_NOFOLLOW; there O_EXCL alone refuses existing links.
const draftFlags =
  constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)
