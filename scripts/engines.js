// The engines of a cluster that tests and benchmarks run for real: programs that npm does not have. On Debian, as
// root, the package of the distribution is installed; elsewhere the program on the PATH is used.

import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Each engine: its program, and the package of Debian that has it. */
const engines = { redis: { program: 'redis-server', debian: 'redis-server' } }

/** Returns the path of an engine's program; undefined if it is not installed. */
export function engineProgram(name) {
  const { program } = engines[name]
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map(folder => join(folder, program)).find(isProgram)
}

/** Installs the engines that are missing, where that is possible, and reports what will not be tested. */
export function installEngines() {
  const missing = Object.keys(engines).filter(name => engineProgram(name) === undefined)
  if (missing.length === 0) return
  if (canInstall()) install(missing.map(name => engines[name].debian))
  for (const name of missing) {
    if (engineProgram(name) !== undefined) continue
    const { program } = engines[name]
    console.error(`${program} is not installed: the tests that need it are left out`)
  }
}

function canInstall() {
  return (
    process.getuid?.() === 0 && existsSync('/etc/debian_version') && isProgram('/usr/bin/apt-get')
  )
}

function install(packages) {
  console.error(`Installing ${packages.join(', ')} with apt-get ...`)
  const quiet = ['-y', '-qq', '--no-install-recommends']
  // RUNLEVEL=1 keeps Debian from starting a service.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const run = args => execFileSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    run(['install', ...quiet, ...packages])
  } catch {
    try {
      run(['update', '-qq'])
      run(['install', ...quiet, ...packages])
    } catch (error) {
      console.error(`apt-get failed: ${error.message}`)
    }
  }
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
