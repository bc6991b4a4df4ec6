// Programs that tests and benchmarks run for real and that npm does not have: the engines of a cluster, and a
// browser. On Debian, as root, the package of the distribution is installed; elsewhere the program on the PATH
// is used.

import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run } from './steps.js'

/** Each engine: the programs that can run it, the package of Debian that has the first, and what is tested with it. */
const engines = {
  redis: {
    programs: ['redis-server', 'valkey-server'],
    debian: 'redis-server',
    tests: 'backplanes in Redis',
  },
  nats: { programs: ['nats-server'], debian: 'nats-server', tests: 'backplanes in NATS' },
  chromium: {
    programs: ['chromium', 'chromium-browser', 'google-chrome'],
    debian: 'chromium',
    tests: 'the console in a browser',
  },
}

/** The time for installing all engines. Then the tests that need a missing one are left out. */
const installMs = 180_000

/** Returns the path of an engine's program; undefined if it is not installed. */
export function engineProgram(name, path = process.env.PATH ?? '') {
  const folders = path.split(delimiter)
  const paths = engines[name].programs.flatMap(program => folders.map(each => join(each, program)))
  return paths.find(isProgram)
}

/**
 * Installs the engines that are missing, where that is possible. Resolves to a line for each that is still missing
 * after a limited time, and never rejects.
 */
export async function installEngines({
  path = process.env.PATH ?? '',
  canInstall = process.getuid?.() === 0 && existsSync('/etc/debian_version'),
  timeoutMs = installMs,
  print,
} = {}) {
  const missing = () =>
    Object.entries(engines)
      .filter(([name]) => engineProgram(name, path) === undefined)
      .map(([, engine]) => engine)
  const packages = missing().map(engine => engine.debian)
  if (canInstall && packages.length > 0) await install(packages, { path, timeoutMs, print })
  return missing().map(({ programs, tests }) => {
    return `not tested: ${tests}, because ${programs.join(' or ')} is not installed`
  })
}

async function install(packages, { path, timeoutMs, print }) {
  const end = Date.now() + timeoutMs
  // RUNLEVEL=1 keeps Debian from starting a service.
  const env = { ...process.env, PATH: path, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  // Without a network, or while another apt-get runs, it would try for much longer.
  const settings = ['Acquire::Retries=1', 'Acquire::http::Timeout=20', 'DPkg::Lock::Timeout=30']
  const options = ['-qq', ...settings.flatMap(setting => ['-o', setting])]
  const aptGet = (...args) => {
    const timeout = Math.max(1, end - Date.now())
    return run('apt-get', [...options, ...args], { env, print, timeout, killSignal: 'SIGKILL' })
  }
  // One by one, because a distribution may lack one of them. Resolves to those that could not be installed.
  const installEach = async wanted => {
    const failed = []
    for (const each of wanted) {
      if (!(await aptGet('install', '-y', '--no-install-recommends', each))) failed.push(each)
    }
    return failed
  }
  const failed = await installEach(packages)
  // The lists of packages may be missing or old.
  if (failed.length > 0 && (await aptGet('update'))) await installEach(failed)
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
