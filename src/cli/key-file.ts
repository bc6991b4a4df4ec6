import { readFile } from 'node:fs/promises'
import { parseKeys } from '../util/crypto/key-text.ts'
import { errorMessage } from '../util/text/error-message.ts'
import { UsageError } from './exit.ts'

/** Reads the sealing keys in a file. Throws a UsageError, which never shows a key. */
export async function readKeyFile(path: string): Promise<readonly Uint8Array[]> {
  try {
    return parseKeys(await readFile(path, 'utf8'))
  } catch (cause) {
    throw new UsageError(`cannot use the keys in ${path}: ${errorMessage(cause)}`, { cause })
  }
}
