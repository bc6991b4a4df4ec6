// @ts-check
// What the tools of the filesystem server do that its own modules do not export. Paths are as clients send
// them.

import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { extname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { formatSize, validatePath } from '@modelcontextprotocol/server-filesystem/dist/lib.js'
import {
  expandHome,
  normalizePath,
} from '@modelcontextprotocol/server-filesystem/dist/path-utils.js'
import { minimatch } from 'minimatch'

/**
 * The folders of the command line, with what they link to. Exits if there are some and none is a folder.
 *
 * @param {readonly string[]} paths
 */
export async function foldersOf(paths) {
  const folders = []
  for (const path of paths.map(path => normalizePath(resolve(expandHome(path))))) {
    const target = normalizePath(await realpath(path).catch(() => path))
    for (const folder of new Set([path, target])) {
      const isFolder = await stat(folder).then(
        found => found.isDirectory(),
        () => false,
      )
      if (isFolder) folders.push(folder)
      else console.error(`${folder} is not a folder that can be read`)
    }
  }
  if (folders.length === 0 && paths.length > 0) process.exit(1)
  return folders
}

/** @type {Readonly<Record<string, string>>} */
const mediaTypes = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.bmp': 'image/bmp',
  '.svg': 'image/svg+xml',
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
  '.ogg': 'audio/ogg',
  '.flac': 'audio/flac',
}

/** @param {string} path */
export async function mediaOf(path) {
  const file = await validatePath(path)
  const mimeType = mediaTypes[extname(file).toLowerCase()] ?? 'application/octet-stream'
  return { uri: pathToFileURL(file).href, mimeType, blob: await readFile(file, 'base64') }
}

/** @param {string} path */
export async function listing(path) {
  const entries = await readdir(await validatePath(path), { withFileTypes: true })
  return entries.map(entry => `${tagOf(entry)} ${entry.name}`).join('\n')
}

/**
 * @param {string} path
 * @param {'name' | 'size'} sortBy
 */
export async function listingWithSizes(path, sortBy) {
  const folder = await validatePath(path)
  const found = await readdir(folder, { withFileTypes: true })
  const entries = await Promise.all(
    found.map(async entry => ({
      name: entry.name,
      tag: tagOf(entry),
      size: await stat(join(folder, entry.name)).then(
        ({ size }) => size,
        () => 0,
      ),
    })),
  )
  const files = entries.filter(({ tag }) => tag === '[FILE]')
  const total = files.reduce((sum, { size }) => sum + size, 0)
  const sorted = entries.toSorted((a, b) =>
    sortBy === 'size' ? b.size - a.size : a.name.localeCompare(b.name),
  )
  return [
    ...sorted.map(({ name, tag, size }) => {
      const shown = tag === '[FILE]' ? formatSize(size).padStart(10) : ''
      return `${tag} ${name.padEnd(30)} ${shown}`
    }),
    '',
    `Total: ${files.length} files, ${entries.length - files.length} directories`,
    `Combined size: ${formatSize(total)}`,
  ].join('\n')
}

/**
 * @typedef {{ name: string, type: 'file' | 'directory', children?: Node[] }} Node
 *
 * @param {string} root
 * @param {readonly string[]} excluded
 * @param {string} [folder]
 * @returns {Promise<Node[]>}
 */
export async function treeOf(root, excluded, folder = root) {
  const entries = await readdir(await validatePath(folder), { withFileTypes: true })
  const nodes = []
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (excluded.some(pattern => matches(relative(root, path), pattern))) continue
    /** @type {Node} */
    const node = { name: entry.name, type: entry.isDirectory() ? 'directory' : 'file' }
    if (entry.isDirectory()) node.children = await treeOf(root, excluded, path)
    nodes.push(node)
  }
  return nodes
}

/**
 * A pattern without a wildcard means a name at any depth.
 *
 * @param {string} path
 * @param {string} pattern
 */
function matches(path, pattern) {
  const patterns = pattern.includes('*')
    ? [pattern]
    : [pattern, `**/${pattern}`, `**/${pattern}/**`]
  return patterns.some(one => minimatch(path, one, { dot: true }))
}

/** @param {{ isDirectory(): boolean }} entry */
function tagOf(entry) {
  return entry.isDirectory() ? '[DIR]' : '[FILE]'
}
