import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
// An environment variable, because the child processes must measure the same build.
const dist = () => process.env.TRUNKLINE_DIST ?? join(root, 'dist')

/** Imports a module of the build under test, by its path below `src` without extension. */
export function ours(module) {
  return import(pathToFileURL(join(dist(), `${module}.js`)).href)
}

/** Builds unless the build is newer than every source. A folder given from outside is taken as is. */
export function build() {
  if (process.env.TRUNKLINE_DIST !== undefined) return
  const entry = join(dist(), 'index.js')
  if (existsSync(entry) && statSync(entry).mtimeMs > newest(join(root, 'src'))) return
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const built = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (built.status !== 0) throw new Error('the build failed: nothing to measure')
}

function newest(folder) {
  return readdirSync(folder, { recursive: true })
    .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .reduce((latest, name) => Math.max(latest, statSync(join(folder, name)).mtimeMs), 0)
}
