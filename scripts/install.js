// Installs what a script needs, unless exactly that is installed already, and reports it on stderr. Runs
// on a fresh clone, so it uses only Node's own modules.

import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { npm, root, tools } from './steps.js'

/** The folders whose programs import the packages of third-party/package.json. */
export const users = ['test', 'bench', 'examples']

const thirdParty = join(root, 'third-party')

// A binary for one C library of Linux does not work with the other.
const library =
  process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc'

/** The packages that a build without types needs: the bundler, and what the page of the console is made of. */
export const buildPackages = ['rolldown', 'preact', '@preact/signals', 'uplot']

/** Installs what is needed to build and run the code: the runtime dependencies and those of the build. */
export function installToRun() {
  const wanted = neededToRun()
  if (isPresent(root, wanted)) return true
  // Omitting the tools would remove those that are installed already.
  if (existsSync(tools.vitest)) return installTools()
  console.error(`Installing ${wanted.length} packages (about 35 MB) ...`)
  const { devDependencies } = read(join(root, 'package.json'))
  // Named, and as a runtime dependency, because development dependencies are omitted.
  const named = buildPackages.map(name => `${name}@${devDependencies[name]}`)
  return installed(root, wanted, ['--omit=dev', '--save-prod', ...named])
}

/** Returns the paths in package-lock.json that are needed to build and run the code on this machine. */
export function neededToRun() {
  const { packages } = read(join(root, 'package-lock.json'))
  return needed(packages, [...Object.keys(packages[''].dependencies), ...buildPackages])
}

/** Also installs the tools of this repository: compiler, linter, test runner. */
export function installTools() {
  const { packages } = read(join(root, 'package-lock.json'))
  return all(root, packages, 'about 200 MB: compiler, linter, test runner')
}

/** Installs the packages of tests, benchmarks and examples, where their imports resolve. */
export async function installThirdParty() {
  const { packages } = read(join(thirdParty, 'package-lock.json'))
  if (!(await all(thirdParty, packages, 'about 170 MB, for tests and examples'))) return false
  for (const user of users) link(join(root, user, 'node_modules'))
  return true
}

/** Installs the tools of the documentation site, which only `npm run docs` needs. */
export function installSite() {
  const site = join(root, 'site')
  const { packages } = read(join(site, 'package-lock.json'))
  return all(site, packages, 'the tools of the documentation site')
}

/** Installs everything. */
export async function install() {
  return (await installTools()) && (await installThirdParty())
}

function all(folder, packages, what) {
  const wanted = Object.keys(packages).filter(path => path !== '' && isForHere(packages[path]))
  if (isPresent(folder, wanted)) return true
  console.error(`Installing ${wanted.length} packages (${what}) ...`)
  return installed(folder, wanted, [])
}

// Not `npm ci`: it rejects a lock file that was written where the binaries for other platforms could not
// be looked up. The code below verifies the same afterwards.
async function installed(folder, wanted, flags) {
  return (
    (await npm('install', '--no-save', '--prefix', folder, ...flags)) && isPresent(folder, wanted)
  )
}

function isPresent(folder, wanted) {
  const locked = read(join(folder, 'package-lock.json')).packages
  const present = read(join(folder, 'node_modules/.package-lock.json')).packages
  // Optional packages are mostly binaries of other platforms, so they may be absent.
  return wanted.every(
    path => locked[path].optional === true || present[path]?.version === locked[path].version,
  )
}

/** Returns the paths in a lock file of some packages and of all their dependencies. */
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

/** Returns the path at which a package resolves another: in its own folder or in one above. */
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
  // A dangling link counts as missing, but must be removed before a new one is created.
  rmSync(path, { force: true })
  // On Windows, junctions need no privileges. Windows makes their target absolute.
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
