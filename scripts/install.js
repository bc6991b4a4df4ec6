// Installs what a script needs, unless exactly that is there already, and says so on stderr. Runs on a
// fresh clone, so it may use Node alone.

import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { npm, root, tools } from './steps.js'

/** The folders whose programs import what third-party/package.json declares. */
export const users = ['test', 'bench', 'examples']

const thirdParty = join(root, 'third-party')

// A binary for one C library of Linux is of no use with the other.
const library =
  process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc'

/** What it takes to build the code and run it: the runtime dependencies and the bundler. */
export function installToRun() {
  const wanted = neededToRun()
  if (isPresent(root, wanted)) return true
  // To leave the tools out would remove those that are there already.
  if (existsSync(tools.vitest)) return installTools()
  console.error(`Installing ${wanted.length} packages (about 25 MB) ...`)
  const { devDependencies } = read(join(root, 'package.json'))
  // Named and as a dependency of the program, because everything that is for development is left out.
  const bundler = ['--save-prod', `rolldown@${devDependencies.rolldown}`]
  return installed(root, wanted, ['--omit=dev', ...bundler])
}

/** The paths in package-lock.json of what it takes to build the code and run it on this machine. */
export function neededToRun() {
  const { packages } = read(join(root, 'package-lock.json'))
  return needed(packages, [...Object.keys(packages[''].dependencies), 'rolldown'])
}

/** This repository's own tools as well: compiler, linter, test runner. */
export function installTools() {
  const { packages } = read(join(root, 'package-lock.json'))
  return all(root, packages, 'about 200 MB: compiler, linter, test runner')
}

/** What the tests, the benchmarks and the examples talk to, where their imports find it. */
export async function installThirdParty() {
  const { packages } = read(join(thirdParty, 'package-lock.json'))
  if (!(await all(thirdParty, packages, 'about 170 MB: what tests and examples talk to')))
    return false
  for (const user of users) link(join(root, user, 'node_modules'))
  return true
}

/** Everything. */
export async function install() {
  return (await installTools()) && (await installThirdParty())
}

function all(folder, packages, what) {
  const wanted = Object.keys(packages).filter(path => path !== '' && isForHere(packages[path]))
  if (isPresent(folder, wanted)) return true
  console.error(`Installing ${wanted.length} packages (${what}) ...`)
  return installed(folder, wanted, [])
}

// Not `npm ci`: it refuses a lock file that was written where the binaries for other platforms could not
// be looked up. What it would check is checked here, after the fact.
async function installed(folder, wanted, flags) {
  return (
    (await npm('install', '--no-save', '--prefix', folder, ...flags)) && isPresent(folder, wanted)
  )
}

function isPresent(folder, wanted) {
  const locked = read(join(folder, 'package-lock.json')).packages
  const present = read(join(folder, 'node_modules/.package-lock.json')).packages
  // Optional packages are mostly binaries of other platforms: their absence says nothing.
  return wanted.every(
    path => locked[path].optional === true || present[path]?.version === locked[path].version,
  )
}

/** The paths in a lock file of some packages and of all that they depend on. */
function needed(packages, names) {
  const found = new Set()
  const visit = (from, name) => {
    const path = locate(packages, from, name)
    if (path === undefined || found.has(path) || !isForHere(packages[path])) return
    found.add(path)
    const { dependencies, optionalDependencies } = packages[path]
    for (const each of Object.keys({ ...dependencies, ...optionalDependencies })) visit(path, each)
  }
  for (const name of names) visit('', name)
  return [...found]
}

/** Where a package finds another: in its own folder, or in one above it. */
function locate(packages, from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const path = `${at === '' ? '' : `${at}/`}node_modules/${name}`
    if (Object.hasOwn(packages, path)) return path
    if (at === '') return undefined
  }
}

function isForHere({ os = [process.platform], cpu = [process.arch], libc = [library] }) {
  return os.includes(process.platform) && cpu.includes(process.arch) && libc.includes(library)
}

function link(path) {
  if (existsSync(path)) return
  // A link that leads nowhere does not exist, and is in the way all the same.
  rmSync(path, { force: true })
  // Windows turns the address of a junction, which anybody may make there, into an absolute one.
  symlinkSync('../third-party/node_modules', path, 'junction')
}

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT') return { packages: {} }
    throw error
  }
}
