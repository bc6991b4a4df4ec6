// Steps shared by the scripts. They run on a fresh clone, so they use only Node's own modules.

import { spawn } from 'node:child_process'
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** The tools of `node_modules`, as files to run with Node, without a shell or a `.cmd` file. */
export const tools = {
  biome: join(root, 'node_modules/@biomejs/biome/bin/biome'),
  knip: join(root, 'node_modules/knip/bin/knip.js'),
  tsc: join(root, 'node_modules/typescript/bin/tsc'),
  vitest: join(root, 'node_modules/vitest/vitest.mjs'),
}

export function heading(text) {
  console.log(`\n== ${text}`)
}

/**
 * Runs a program in the repository without input; resolves to whether it exited with 0. Its output is
 * inherited, or passed to `print` if that is given.
 */
export function run(command, args, { print, ...options } = {}) {
  return new Promise(resolve => {
    const output = print === undefined ? 'inherit' : 'pipe'
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', output, output], ...options })
    child.stdout?.setEncoding('utf8').on('data', print)
    child.stderr?.setEncoding('utf8').on('data', print)
    child.on('error', error => {
      console.error(`${command}: ${error.message}`)
      resolve(false)
    })
    child.on('close', code => resolve(code === 0))
  })
}

/** Runs a JavaScript file with the current Node version. */
export function node(file, ...args) {
  return run(process.execPath, [file, ...args])
}

/** Runs npm: the one that started this script, else the one on the PATH. Its output goes to stderr. */
export function npm(...args) {
  const quiet = [...args, '--loglevel=error', '--no-audit', '--no-fund']
  const stdio = ['ignore', 2, 2]
  const { npm_execpath } = process.env
  if (npm_execpath?.endsWith('npm-cli.js')) {
    return run(process.execPath, [npm_execpath, ...quiet], { stdio })
  }
  return run('npm', quiet, { stdio, shell: process.platform === 'win32' })
}

/**
 * Compiles `src` into `dist`: code and declarations, each bundled, and the page of the console. `types: false` builds only the code, which
 * needs neither the compiler nor the bundler of declarations. The old output stays in place until the new one
 * is complete, so that a program or test that starts meanwhile never sees half a package.
 */
export async function build({ types = true } = {}) {
  const dist = join(root, 'dist')
  const fresh = join(root, '.cache', `build.${process.pid}`)
  const old = `${fresh}.old`
  const isTyped = !types || (await declare(fresh))
  const isJoined =
    (await node(join(root, 'scripts/bundle.js'), fresh)) &&
    (await node(join(root, 'scripts/build-console.js'), join(fresh, 'console/page')))
  if (!isJoined) {
    rmSync(fresh, { recursive: true, force: true })
    return false
  }
  if (existsSync(dist)) renameSync(dist, old)
  renameSync(fresh, dist)
  rmSync(old, { recursive: true, force: true })
  return isTyped
}

/** Writes the declarations into a folder. With type errors they are written too. Resolves to whether all is well. */
async function declare(folder) {
  const single = `${folder}.types`
  const isChecked = await node(tools.tsc, '-p', 'tsconfig.build.json', '--outDir', single)
  const isBundled = await node(join(root, 'scripts/bundle-types.js'), single, folder)
  rmSync(single, { recursive: true, force: true })
  return isChecked && isBundled
}

/** Returns whether `dist` (with `types: false` only its code) is missing or older than a source. */
export function isStale({ types = true } = {}) {
  const outputs = ['dist/index.js', ...(types ? ['dist/index.d.ts'] : [])]
  const built = Math.min(...outputs.map(name => changed(join(root, name))))
  const inputs = ['package.json', 'tsconfig.json', 'tsconfig.build.json']
  inputs.push('scripts/bundle.js', 'scripts/bundle-types.js', 'scripts/build-console.js')
  for (const folder of ['src', 'console']) {
    for (const name of readdirSync(join(root, folder), { recursive: true })) {
      if (/\.(?:tsx?|css|html)$/.test(name) && !name.endsWith('.test.ts')) {
        inputs.push(join(folder, name))
      }
    }
  }
  return inputs.some(name => changed(join(root, name)) > built)
}

function changed(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
