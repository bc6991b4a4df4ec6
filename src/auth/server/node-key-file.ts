import { readFileSync, statSync } from 'node:fs'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { type ApiKeyRecord, type ApiKeySource, checkRecord } from './verifiers/api-keys.ts'

/** The options of `keyFile`. */
export interface KeyFileOptions {
  /** Called when a changed file cannot be read; the keys stay as they were. */
  readonly onError?: (error: Error) => void
}

/**
 * Reads API keys from a JSON file `{ "keys": [ … ] }` with the records of `newApiKey`, and again whenever it
 * changes. Only its owner may read the file. Throws a TypeError for a file that is missing, invalid, or readable by others.
 */
export function keyFile(path: string, options: KeyFileOptions = {}): ApiKeySource {
  // Before the file is read: a change in between is then found at the next check.
  let seen = stateOf(path)
  let keys = readKeys(path)
  const check = (): void => {
    const state = stateOf(path)
    if (state === seen) return
    seen = state
    try {
      keys = readKeys(path)
      source.onChange?.()
    } catch (error) {
      options.onError?.(error instanceof Error ? error : new Error(errorMessage(error)))
    }
  }
  const timer = setInterval(check, limits.keyFileCheckMs.default).unref()
  const source: ApiKeySource = { current: () => keys, close: () => clearInterval(timer) }
  return source
}

/** Returns what identifies the current contents of a file, also one that is replaced by renaming. */
function stateOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined
    ? 'missing'
    : `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`
}

/** Reads the keys of a file. Throws a TypeError that names the file and what is wrong. */
export function readKeys(path: string): readonly ApiKeyRecord[] {
  try {
    const { mode, size } = statSync(path)
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new Error(`others can read it; run: chmod 600 ${path}`)
    }
    if (size > limits.keyFileBytes.default) throw new Error('it is too large')
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const keys = isRecord(value) ? value.keys : undefined
    if (!Array.isArray(keys)) throw new Error('it must be { "keys": [ … ] }')
    for (const key of keys) checkRecord(key)
    return keys
  } catch (error) {
    throw new TypeError(`API keys in ${path}: ${errorMessage(error)}`, { cause: error })
  }
}
