import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { npm, root } from '../scripts/steps.js'

/** Where everything is installed; `TRUNKLINE_ZOO` names another folder. */
export const folder = process.env.TRUNKLINE_ZOO ?? join(root, '.cache/zoo')

/**
 * Installs packages, each set into a folder of its own, because their dependencies contradict each other.
 * Install scripts do not run: they fetch browsers and binaries from elsewhere. Returns the entries that could
 * not be installed.
 */
export async function installAll(kind, entries, simultaneous = 3) {
  const queue = entries.filter(entry => !isInstalled(kind, entry))
  if (queue.length > 0) console.error(`Installing ${queue.length} ${kind} ...`)
  const failed = []
  const workers = Array.from({ length: simultaneous }, async () => {
    for (let entry = queue.shift(); entry !== undefined; entry = queue.shift()) {
      if (!(await installOne(kind, entry))) failed.push(entry)
    }
  })
  await Promise.all(workers)
  return failed
}

/** Returns the folder that an entry is installed into. */
export function folderOf(kind, entry) {
  return join(folder, kind, entry.name)
}

/** Returns the path of the program of an entry. */
export function programOf(kind, entry) {
  const modules = join(folderOf(kind, entry), 'node_modules')
  const name = nameOf(entry.packages[0])
  const { bin } = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'))
  const base = name.split('/').at(-1)
  const programs = typeof bin === 'string' ? { [base]: bin } : bin
  const chosen = entry.program ?? (base in programs ? base : Object.keys(programs)[0])
  return join(modules, name, programs[chosen])
}

function isInstalled(kind, entry) {
  const path = join(folderOf(kind, entry), 'installed.json')
  return existsSync(path) && readFileSync(path, 'utf8') === JSON.stringify(entry.packages)
}

async function installOne(kind, entry) {
  const path = folderOf(kind, entry)
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, 'package.json'), '{ "private": true }\n')
  const flags = ['--ignore-scripts', '--legacy-peer-deps', '--no-package-lock', '--prefix', path]
  if (!(await npm('install', ...entry.packages, ...flags))) return false
  writeFileSync(join(path, 'installed.json'), JSON.stringify(entry.packages))
  return true
}

/** Returns the name in `name@version`. */
export function nameOf(specifier) {
  return specifier.slice(0, specifier.lastIndexOf('@'))
}
