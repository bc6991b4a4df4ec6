import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from '../../router/config/env.ts'
import { ConfigError } from '../../router/config/issue.ts'
import { type RouterConfig, readConfig } from '../../router/config/read.ts'
import { limits } from '../../util/limits/limits.ts'
import type { FileText } from '../watch/file-watch.ts'

/** Where a configuration is looked for, in this order, if none is named: ours, then those of others. */
export const configNames: readonly string[] = [
  'trunkline.json',
  'trunkline.jsonc',
  '.mcp.json',
  join('.vscode', 'mcp.json'),
  'mcp.json',
]

/**
 * The path of the configuration: the one that is given, or the first of {@link configNames} in the
 * folder. Throws a {@link ConfigError} that says where it looked if there is none.
 */
export async function findConfig(given: string | undefined, folder = '.'): Promise<string> {
  if (given !== undefined) return given
  for (const name of configNames) {
    const path = join(folder, name)
    if (await isFile(path)) return path
  }
  throw fileError(`there is no configuration; looked for ${configNames.join(', ')}`)
}

/** Reads a configuration file. Throws a {@link ConfigError} if it cannot be read or used. */
export async function loadConfig(path: string, env: Environment): Promise<RouterConfig> {
  const { text } = await readConfigFile(path)
  return readConfig(text, { env, file: path })
}

/** Reads the text of a configuration file. Throws a {@link ConfigError} if there is none. */
export async function readConfigFile(path: string): Promise<FileText> {
  const most = limits.configBytes.default
  let bytes: Buffer
  let stamp: string
  try {
    ;({ bytes, stamp } = await firstBytes(path, most + 1))
  } catch (error) {
    throw fileError(`the file cannot be read: ${reasonOf(error)}`, path, error)
  }
  if (bytes.length > most) throw fileError(`the file is longer than ${most} bytes`, path)
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), stamp }
  } catch {
    throw fileError('the file is not UTF-8; save it in that encoding', path)
  }
}

/** An error about a file as a whole. */
export function fileError(message: string, file?: string, cause?: unknown): ConfigError {
  const issue = { severity: 'error', path: '', line: 0, column: 0, message } as const
  return new ConfigError([issue], file, cause === undefined ? undefined : { cause })
}

/** No more than is looked at, however long the file, and whether or not it is a file on a disk. */
async function firstBytes(path: string, most: number): Promise<{ bytes: Buffer; stamp: string }> {
  const handle = await open(path, 'r')
  try {
    const { ino, mtimeNs } = await handle.stat({ bigint: true })
    const buffer = Buffer.alloc(most)
    let length = 0
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, most - length)
      length += bytesRead
      if (bytesRead > 0 && length < most) continue
      return { bytes: buffer.subarray(0, length), stamp: `${ino} ${mtimeNs}` }
    }
  } finally {
    await handle.close()
  }
}

async function isFile(path: string): Promise<boolean> {
  try {
    return !(await stat(path)).isDirectory()
  } catch (error) {
    // One that is there and may not be looked at is named in the failure to read it.
    return codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR'
  }
}

function reasonOf(error: unknown): string {
  const code = codeOf(error)
  return reasons.get(code) ?? (code || 'it is not known why')
}

const reasons = new Map([
  ['ENOENT', 'there is none'],
  ['ENOTDIR', 'there is none'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
])

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
