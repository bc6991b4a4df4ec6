import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from '../../router/config/env.ts'
import { parserFor } from '../../router/config/formats/format.ts'
import { ConfigError } from '../../router/config/issue.ts'
import { type RouterConfig, readConfig } from '../../router/config/read.ts'
import { limits } from '../../util/limits/limits.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { isBundle, readBundle } from '../bundles/bundle.ts'
import type { FileText } from '../watch/file-watch.ts'
import { errorCode, fileProblem } from './file-problem.ts'
import { placesOf } from './places.ts'

/** Default names of configuration files, in search order: our own, then those of other hosts. */
export const configNames: readonly string[] = [
  'trunkline.json',
  'trunkline.jsonc',
  '.mcp.json',
  join('.vscode', 'mcp.json'),
  'mcp.json',
  join('.cursor', 'mcp.json'),
  join('.gemini', 'settings.json'),
  join('.kiro', 'settings', 'mcp.json'),
  join('.roo', 'mcp.json'),
  'opencode.json',
  'crush.json',
  join('.zed', 'settings.json'),
  join('.codex', 'config.toml'),
  join('.amazonq', 'mcp.json'),
]

/**
 * Returns the given path, or that of the first file of {@link configNames} in the folder. Throws a
 * {@link ConfigError} with the searched names if there is none.
 */
export async function findConfig(given: string | undefined, folder = '.'): Promise<string> {
  if (given !== undefined) return given
  for (const name of configNames) {
    const path = join(folder, name)
    if ((await isFile(path)) && (await mentions(path, settingsFiles.get(name)))) return path
  }
  throw fileError(`no configuration file found; looked for ${configNames.join(', ')}`)
}

/** Files that hold all settings of a host, with the key of the servers: without it they are not meant for us. */
const settingsFiles: ReadonlyMap<string, string> = new Map([
  [join('.gemini', 'settings.json'), 'mcpServers'],
  ['opencode.json', '"mcp"'],
  ['crush.json', '"mcp"'],
  [join('.zed', 'settings.json'), 'context_servers'],
  [join('.codex', 'config.toml'), 'mcp_servers'],
])

/** Whether a file contains a text; true if it cannot be read, because reading it later gives the reason. */
async function mentions(path: string, text: string | undefined): Promise<boolean> {
  if (text === undefined) return true
  return readConfigFile(path).then(
    found => found.text.includes(text),
    () => true,
  )
}

/**
 * Reads a configuration file; a server with errors is kept as one that is down. Throws a {@link ConfigError} if
 * the file cannot be read or is invalid as a whole.
 */
export async function loadConfig(path: string, env: Environment): Promise<RouterConfig> {
  const { text } = await readConfigFile(path)
  const parse = await parserFor(path, text)
  const places = placesOf(path, env)
  return readConfig(text, { env, file: path, places, parse, tolerant: true })
}

/** Reads the text of a configuration file. Throws a {@link ConfigError} if it cannot be read. */
export async function readConfigFile(path: string): Promise<FileText> {
  if (await isBundle(path)) {
    return readBundle(path).catch(error => {
      throw fileError(`cannot read the bundle: ${errorMessage(error)}`, path, error)
    })
  }
  const max = limits.configBytes.default
  let bytes: Buffer
  let stamp: string
  try {
    ;({ bytes, stamp } = await firstBytes(path, max + 1))
  } catch (error) {
    throw fileError(`cannot read the file: ${fileProblem(error)}`, path, error)
  }
  if (bytes.length > max) throw fileError(`the file is larger than ${max} bytes`, path)
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), stamp }
  } catch {
    throw fileError('the file is not UTF-8; save it with that encoding', path)
  }
}

/** Creates an error about a file as a whole, without a position. */
export function fileError(message: string, file?: string, cause?: unknown): ConfigError {
  const issue = { severity: 'error', path: '', line: 0, column: 0, message } as const
  return new ConfigError([issue], file, cause === undefined ? undefined : { cause })
}

/** Reads at most `max` bytes, however long the file is, and even if it is a pipe or device. */
async function firstBytes(path: string, max: number): Promise<{ bytes: Buffer; stamp: string }> {
  const handle = await open(path, 'r')
  try {
    const { ino, mtimeNs } = await handle.stat({ bigint: true })
    const buffer = Buffer.alloc(max)
    let length = 0
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, max - length)
      length += bytesRead
      if (bytesRead > 0 && length < max) continue
      return { bytes: buffer.subarray(0, length), stamp: `${ino} ${mtimeNs}` }
    }
  } finally {
    await handle.close()
  }
}

/** Whether a path is a file, or something else that can be read as one. */
export async function isFile(path: string): Promise<boolean> {
  try {
    return !(await stat(path)).isDirectory()
  } catch (error) {
    // If the file exists but is not accessible, reading it fails with the reason.
    return errorCode(error) !== 'ENOENT' && errorCode(error) !== 'ENOTDIR'
  }
}
