import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
/** The build of this repository. */
export const defaultBuild = join(root, 'dist')
// An environment variable, because the child processes must measure the same build.
const dist = () => process.env.TRUNKLINE_DIST ?? defaultBuild

/** Imports a subpath of the build under test, such as `jsonrpc/index`. */
export function ours(module) {
  return import(pathToFileURL(join(dist(), `${module}.js`)).href)
}

/** Imports a source module that no subpath exports, by its path below `src`. */
export function inside(module) {
  const folder = join(root, '.cache', 'modules')
  const entry = join(folder, `${module}.js`)
  if (!existsSync(entry) || statSync(entry).mtimeMs < newest(join(root, 'src'))) {
    const apart = ['--emitDeclarationOnly', 'false', '--declaration', 'false', '--outDir', folder]
    const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    run(compiler, '-p', 'tsconfig.build.json', ...apart)
  }
  return import(pathToFileURL(entry).href)
}

/** Builds the package if a source is newer than the build. A folder named by `--dist` is used as is. */
export function build() {
  if (process.env.TRUNKLINE_DIST !== undefined) return
  const entry = join(dist(), 'index.js')
  if (existsSync(entry) && statSync(entry).mtimeMs > newest(join(root, 'src'))) return
  run(join(root, 'scripts', 'build.js'))
}

function run(...args) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('the build failed: nothing to measure')
}

function newest(folder) {
  return readdirSync(folder, { recursive: true })
    .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .reduce((latest, name) => Math.max(latest, statSync(join(folder, name)).mtimeMs), 0)
}
