import { readFileSync, statSync, unwatchFile, watchFile } from 'node:fs'
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
 * Reads API keys from a file that `trunkline keys` maintains, and again whenever it changes. Only its owner
 * may read the file. Throws a TypeError for a file that is missing, invalid, or readable by others.
 */
export function keyFile(path: string, options: KeyFileOptions = {}): ApiKeySource {
  let keys = readKeys(path)
  const source: ApiKeySource = {
    current: () => keys,
    close: () => unwatchFile(path, onChange),
  }
  const onChange = (): void => {
    try {
      keys = readKeys(path)
      source.onChange?.()
    } catch (error) {
      options.onError?.(error instanceof Error ? error : new Error(errorMessage(error)))
    }
  }
  // By its state, because files are often replaced by renaming.
  watchFile(path, { interval: limits.keyFileCheckMs.default, persistent: false }, onChange)
  return source
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
