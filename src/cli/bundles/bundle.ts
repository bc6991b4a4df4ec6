import { open, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Environment } from '../../router/config/env.ts'
import { limits } from '../../util/limits/limits.ts'
import { fileProblem } from '../target/file-problem.ts'
import { homeOf } from '../target/places.ts'
import type { FileText } from '../watch/file-watch.ts'
import { configOfManifest } from './manifest.ts'
import { unpackBundle } from './unpack.ts'

/** Whether a path names a bundle: an archive (`.mcpb`, `.dxt`), or an unpacked one, a folder with a manifest. */
export async function isBundle(path: string): Promise<boolean> {
  if (isBundleName(path)) return true
  return stat(join(path, 'manifest.json')).then(
    found => found.isFile(),
    () => false,
  )
}

/** Whether a path has the extension of a bundle. */
export function isBundleName(path: string): boolean {
  return /\.(?:mcpb|dxt)$/i.test(path)
}

/**
 * Returns the text of a configuration file with the server of a bundle, which is unpacked if necessary. Rejects with
 * an Error whose message is the reason.
 */
export async function readBundle(path: string, env: Environment = process.env): Promise<FileText> {
  const found = await stat(path, { bigint: true }).catch(error => {
    throw new Error(fileProblem(error))
  })
  const folder = found.isDirectory() ? resolve(path) : await unpackBundle(await bytesOf(path), env)
  const manifest = await manifestOf(join(folder, 'manifest.json'))
  const context = { folder, home: homeOf(env), platform: process.platform, env }
  const text = JSON.stringify(configOfManifest(manifest, context), null, 2)
  return { text, stamp: `${found.ino} ${found.mtimeNs}` }
}

async function bytesOf(path: string): Promise<Buffer> {
  const max = limits.bundleBytes.default
  const handle = await open(path, 'r').catch(error => {
    throw new Error(fileProblem(error))
  })
  try {
    const { size } = await handle.stat()
    if (size > max) throw new Error(`it is larger than ${max} bytes`)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

async function manifestOf(path: string): Promise<unknown> {
  const { size } = await stat(path).catch(() => {
    throw new Error('it has no manifest.json')
  })
  if (size > limits.configBytes.default) throw new Error('its manifest.json is too large')
  try {
    return JSON.parse((await readFile(path, 'utf8')).replace(/^\uFEFF/, ''))
  } catch {
    throw new Error('its manifest.json is not valid JSON')
  }
}
