import { open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pins } from '../../router/pins/pins.ts'
import { errorWords } from '../../util/error-words.ts'
import { limits } from '../../util/limits/limits.ts'
import { UsageError } from '../exit.ts'
import type { FileText } from '../watch/file-watch.ts'

/**
 * Reads a file of pins. Throws a UsageError that says what is wrong with it; one that is not there has
 * the code `ENOENT` in its cause.
 */
export async function readPinFile(path: string): Promise<FileText> {
  try {
    const { size, ino, mtimeNs } = await stat(path, { bigint: true })
    const most = limits.pinFileBytes.default
    if (size > most) throw new Error(`it is longer than ${most} bytes`)
    return { text: await readFile(path, 'utf8'), stamp: `${ino} ${mtimeNs}` }
  } catch (cause) {
    throw new UsageError(`the pins in ${path} cannot be read: ${reasonOf(cause)}`, { cause })
  }
}

/** Whether a failure to read a file of pins means that there is none yet. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && codeOf(error.cause) === 'ENOENT'
}

/** What the text of such a file holds, which nobody has checked yet. Throws a UsageError for no JSON. */
export function parsePins(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw unusable(path, cause)
  }
}

/** The failure of a file that can be read and not used. */
export function unusable(path: string, cause: unknown): UsageError {
  return new UsageError(`the pins in ${path} cannot be used: ${reasonOf(cause)}`, { cause })
}

/** Pins as the text of a file. */
export function pinText(pins: Pins): string {
  return `${JSON.stringify(pins.export(), null, 2)}\n`
}

/** Puts a text into the place of a file, so that nobody ever finds half of it. Only with the lock. */
export async function writePinFile(path: string, text: string): Promise<void> {
  const place = await placeOf(path)
  const draft = `${place}.new`
  await writeFile(draft, text)
  await rename(draft, place)
}

/**
 * Does something while no other process reads the file to write it: of two that do, one would write
 * over what the other has just approved. Waits for as long as a lock may last; one that was left behind
 * is taken away.
 */
export async function withPinLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${await placeOf(path)}.lock`
  await take(lock)
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
  }
}

async function take(lock: string): Promise<void> {
  for (;;) {
    try {
      const handle = await open(lock, 'wx')
      await handle.close()
      return
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
    const ageMs = await stat(lock).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    )
    if (ageMs > limits.pinLockMs.default) await rm(lock, { force: true })
    else await sleep(10)
  }
}

/** The file that a link stands for: the link itself is to stay. */
async function placeOf(path: string): Promise<string> {
  return realpath(path).catch(() => path)
}

function reasonOf(error: unknown): string {
  const code = codeOf(error)
  if (code === 'ENOENT') return 'there is no such file'
  return code || errorWords(error)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
