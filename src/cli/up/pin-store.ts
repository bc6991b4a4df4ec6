import { readFile, realpath, stat } from 'node:fs/promises'
import type { Pins } from '../../router/pins/pins.ts'
import { withLock } from '../../util/files/file-lock.ts'
import { replaceFile } from '../../util/files/replace-file.ts'
import { limits } from '../../util/limits/limits.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { UsageError } from '../exit.ts'
import type { FileText } from '../watch/file-watch.ts'

/**
 * Reads a pin file. Throws a UsageError with the reason; for a missing file its cause has the code `ENOENT`.
 */
export async function readPinFile(path: string): Promise<FileText> {
  try {
    const { size, ino, mtimeNs } = await stat(path, { bigint: true })
    const max = limits.pinFileBytes.default
    if (size > max) throw new Error(`it is larger than ${max} bytes`)
    return { text: await readFile(path, 'utf8'), stamp: `${ino} ${mtimeNs}` }
  } catch (cause) {
    throw new UsageError(`cannot read the pin file ${path}: ${reasonOf(cause)}`, { cause })
  }
}

/** Whether reading a pin file failed because it does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && codeOf(error.cause) === 'ENOENT'
}

/** Parses the text of a pin file, without validating its content. Throws a UsageError for invalid JSON. */
export function parsePins(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw unusablePinFile(path, cause)
  }
}

/** Creates the error for a pin file with invalid content. */
export function unusablePinFile(path: string, cause: unknown): UsageError {
  return new UsageError(`invalid pin file ${path}: ${reasonOf(cause)}`, { cause })
}

/** Formats pins as the text of a pin file. */
export function pinText(pins: Pins): string {
  return `${JSON.stringify(pins.export(), null, 2)}\n`
}

/** Replaces the file atomically, so that no reader sees half of it. Call it only within `withPinLock`. */
export async function writePinFile(path: string, text: string): Promise<void> {
  await replaceFile(path, text)
}

/**
 * Runs `work` while holding the lock of the file. Without it, two processes that read and write the file would
 * overwrite each other's approvals. Waits for a held lock. One that was not renewed for `pinLockMs` is stale.
 */
export async function withPinLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  return withLock(`${await targetOf(path)}.lock`, limits.pinLockMs.default, work)
}

/** Resolves a symbolic link: processes that use different links to one file share its lock. */
async function targetOf(path: string): Promise<string> {
  return realpath(path).catch(() => path)
}

function reasonOf(error: unknown): string {
  const code = codeOf(error)
  if (code === 'ENOENT') return 'no such file'
  return code || errorMessage(error)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
