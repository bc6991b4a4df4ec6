import { spawn } from 'node:child_process'
import { existsSync, watch } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseAddress } from '../../address.ts'
import type { Endpoint } from '../../mcp/endpoint.ts'
import { isEndpoint } from '../../protocol.ts'
import type { AuthConfig } from '../../router/config/auth/fields.ts'
import { readAuthConfig } from '../../router/config/read.ts'
import { serve } from '../../serve.ts'
import { addressesOf, flagFor } from '../../serve-address.ts'
import { transports } from '../../transports.ts'
import { keysVariable } from '../../util/crypto/key-text.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import type { CommandLine } from '../arguments.ts'
import type { CliCluster } from '../cluster/cluster-of.ts'
import { exitCodes, FileError, UsageError, withUsageErrors } from '../exit.ts'
import type { Invocation, Run } from '../invocation.ts'
import { readKeyFile } from '../key-file.ts'
import { programName } from '../program.ts'
import { guardOptions } from '../up/caller-auth.ts'
import { type DevAuth, devAuthText, devUsersOf, startDevAuth } from '../up/dev-auth.ts'
import { checkWorkerAddresses } from '../workers/check-plan.ts'
import { serveInWorker } from '../workers/serve-in-worker.ts'
import { withWorkers } from '../workers/with-workers.ts'
import type { Worker } from '../workers/worker.ts'

/** `trunkline serve`: runs a file that exports a server, or that calls `serve` itself. */
export const run: Run = invocation => {
  // It starts this command again, with all other options.
  if (invocation.input.has('watch')) return serveNamed(invocation, undefined)
  return withWorkers(invocation, serveNamed)
}

async function serveNamed(invocation: Invocation, worker: Worker | undefined): Promise<number> {
  const { input } = invocation
  const [name] = input.operands
  if (name === undefined) throw new UsageError('missing file: trunkline serve server.js')
  const file = resolve(name)
  if (!existsSync(file)) throw new UsageError(`${file} does not exist`)
  const addresses = await withUsageErrors(() => requestedAddresses(input, invocation.env))
  if (input.has('watch')) return serveWatched(file, invocation)
  return serveFile(file, addresses, invocation, worker)
}

/** Returns the addresses of operands and options; undefined if there are none. */
function requestedAddresses(
  input: CommandLine,
  env: Invocation['env'],
): readonly string[] | undefined {
  const given = input.operands.slice(1)
  for (const address of given) {
    if (/^\d+$/.test(address))
      throw new UsageError(`"${address}" is not an address; did you mean "--http ${address}"?`)
    parseAddress(address)
  }
  const flags = flagsOf(input)
  const named = flags.length === 0 ? [] : addressesOf(flags, env)
  const all = [...given, ...named]
  return all.length === 0 ? undefined : all
}

const flagNames = transports.flatMap(({ scheme, secureScheme }) =>
  [scheme, secureScheme ?? []].flat(),
)

function flagsOf(input: CommandLine): string[] {
  return flagNames.flatMap(name => {
    if (!input.has(name)) return []
    const value = input.value(name)
    return value === undefined || value === '' ? [`--${name}`] : [`--${name}=${value}`]
  })
}

async function serveFile(
  file: string,
  addresses: readonly string[] | undefined,
  invocation: Invocation,
  worker: Worker | undefined,
): Promise<number> {
  const { input, env, terminal } = invocation
  const cluster = worker && (await joined(worker))
  // A file that calls serve() itself reads these arguments and environment variables.
  const forwarded = (addresses ?? []).map(flagFor)
  process.argv = [
    process.execPath,
    file,
    ...forwarded.map(({ flag }) => flag),
    ...(input.program ?? []),
  ]
  const path = forwarded.find(each => each.path !== undefined)?.path
  if (path !== undefined) process.env.MCP_PATH = path
  const keyFile = input.value('keys')
  if (keyFile !== undefined) {
    // The file makes its server itself, which reads this variable.
    setKeys(await readKeyFile(keyFile))
  } else if (cluster !== undefined && !process.env[keysVariable]) setKeys(cluster.lastingKeys)
  const authFile = input.value('auth')
  const where = addresses ?? addressesOf([], env)
  if (worker !== undefined) checkWorkerAddresses(where)
  const users = devUsersOf(input, where, authFile !== undefined)
  const authConfig = authFile === undefined ? undefined : await readAuthFile(authFile, env)
  const listenersBefore = process.listenerCount('SIGTERM')
  const endpoint = exportedEndpoint(await load(file))
  // A file may both export its server and serve it; serve() adds a SIGTERM listener.
  const isServing = process.listenerCount('SIGTERM') > listenersBefore
  if (endpoint === undefined || isServing) {
    const needsExport = [
      ...(authFile === undefined ? [] : ['--auth']),
      ...(users === undefined ? [] : ['--dev-auth']),
      ...(worker === undefined ? [] : ['--workers']),
    ]
    const [option] = needsExport
    if (option === undefined) return untilExit(file)
    terminal.error(
      `trunkline: ${option} requires a file that exports a server; ${file} serves itself`,
    )
    // At once, because the file may serve callers already, without authentication.
    process.exit(exitCodes.usage)
  }
  if (authConfig !== undefined || users !== undefined) onlyAddress(where)
  const devAuth = users === undefined ? undefined : await startDevAuth(users)
  const auth = devAuth?.config ?? authConfig
  const noteError = (error: unknown): void => terminal.note(errorMessage(error))
  const guard = async () => auth && guardOptions(auth, onlyAddress(where), noteError)
  if (worker !== undefined && cluster !== undefined) {
    const options = { ...(await withUsageErrors(guard)), onError: noteError }
    return serveInWorker(invocation, { endpoint, addresses: where, options, cluster, worker })
  }
  const serving = await withUsageErrors(async () =>
    serve(endpoint, { addresses: where, ...(await guard()) }),
  )
  if (devAuth !== undefined) terminal.note(loginText(devAuth, serving.addresses))
  // On stdio, stdout carries protocol messages.
  if (input.has('json') && !serving.addresses.includes('stdio:')) {
    terminal.json({ addresses: serving.addresses })
  }
  await serving.ended
  await devAuth?.close()
  return exitCodes.ok
}

/** Joins the cluster of all workers. Its code is loaded only then. */
async function joined(worker: Worker): Promise<CliCluster> {
  const { workerCluster } = await import('../cluster/cluster-of.ts')
  return workerCluster(worker)
}

/** Sets the keys of the server, which the file makes itself. */
function setKeys(keys: readonly Uint8Array[]): void {
  process.env[keysVariable] = keys.map(key => Buffer.from(key).toString('hex')).join(',')
}

/** Returns the text that says how to log in at a server with `--dev-auth`. */
function loginText(devAuth: DevAuth, [address = '']: readonly string[]): string {
  return `${devAuthText(devAuth)}\nlog in: ${programName()} login ${address}`
}

/** Returns the address that `--auth` or `--dev-auth` guards. Throws a UsageError for several, and for `stdio:`. */
function onlyAddress([address = '', ...others]: readonly string[]): string {
  if (others.length === 0 && address !== 'stdio:') return address
  throw new UsageError(
    'authorization guards one address, such as that of --http 3000, and not "stdio:"',
  )
}

/** Reads the file of `--auth`. Throws a ConfigError with its mistakes, or a UsageError if it cannot be read. */
async function readAuthFile(file: string, env: Invocation['env']): Promise<AuthConfig> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    throw new UsageError(`--auth: cannot read ${file}: ${errorMessage(cause)}`, { cause })
  }
  return readAuthConfig(text, { env, file })
}

/** Waits for a file that calls `serve` itself, which ends the process. Rejects if the file serves nothing. */
function untilExit(file: string): Promise<number> {
  return new Promise((resolve, reject) => {
    process.once('beforeExit', () => {
      // The event loop is empty. If stdin was read, the file has served a client on stdio.
      if (process.stdin.readableFlowing !== null) return resolve(exitCodes.ok)
      const hint = 'export it as "server" or as default, or call serve(server)'
      reject(new FileError(`${file} neither exports a server nor calls serve(); ${hint}`))
    })
  })
}

async function load(file: string): Promise<unknown> {
  try {
    return await import(pathToFileURL(file).href)
  } catch (error) {
    if (isRecord(error) && error.code === 'ERR_UNKNOWN_FILE_EXTENSION') {
      const problem = `Node.js ${process.version} cannot run ${file}`
      throw new FileError(`${problem}; compile it to JavaScript, or use a newer Node.js`)
    }
    const advice = loadAdvice(error, basename(file))
    if (advice !== undefined)
      throw new FileError(`cannot load ${file}: ${advice}`, { cause: error })
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
    throw new FileError(`cannot load ${file}: ${reason}`, { cause: error })
  }
}

/** Returns what to do about a file that cannot be loaded; undefined if its error says enough. */
function loadAdvice(error: unknown, name: string): string | undefined {
  const message = errorMessage(error)
  const stem = name.replace(/\.[^.]+$/, '')
  if (
    error instanceof SyntaxError &&
    /import statement outside|Unexpected token 'export'/.test(message)
  )
    return `${name} is read as CommonJS; call it ${stem}.mjs, or run "npm pkg set type=module"`
  if (
    error instanceof ReferenceError &&
    /\b(?:require|module|exports) is not defined/.test(message)
  )
    return `${name} is read as an ES module; use import and export in it, or call it ${stem}.cjs`
  const [, missing] = /Cannot find package '([^']+)'/.exec(message) ?? []
  return missing === undefined ? undefined : `${message}; run "npm install ${missing}"`
}

function exportedEndpoint(module: unknown): Endpoint | undefined {
  if (!isRecord(module)) return undefined
  return [module.default, module.server].find(isEndpoint)
}

/** Runs this command in a child process, and restarts it when a source file in its folder changes. */
async function serveWatched(file: string, invocation: Invocation): Promise<number> {
  const { terminal, signal } = invocation
  const folder = dirname(file)
  const args = process.argv.slice(2).filter((arg, at, all) => !isOwnWatch(arg, at, all))
  const program = process.argv[1] ?? fileURLToPath(import.meta.url)
  let child = spawn(process.execPath, [program, ...args], { stdio: 'inherit' })
  let isRestarting = false
  let timer: NodeJS.Timeout | undefined
  const restart = (): void => {
    isRestarting = true
    terminal.note(`a file in ${folder} changed; restarting`)
    child.kill('SIGTERM')
  }
  const watcher = watch(folder, { recursive: true }, (_, name) => {
    if (name === null || !isWatched(name)) return
    // Editors write a file in several steps, so wait for the last one.
    clearTimeout(timer)
    timer = setTimeout(restart, limits.watchDebounceMs.default)
  })
  terminal.note(`watching ${folder}`)
  try {
    for (;;) {
      const code = await exitOf(child, signal)
      // As without --watch, an interruption is a normal end.
      if (signal.aborted) return exitCodes.ok
      if (!isRestarting) {
        terminal.note(`the server exited with code ${code}; waiting for a change`)
        // After the end of stdin a restarted server would have no input.
        if (code === exitCodes.ok) return exitCodes.ok
        await changed(watcher, signal)
      }
      isRestarting = false
      clearTimeout(timer)
      child = spawn(process.execPath, [program, ...args], { stdio: 'inherit' })
    }
  } finally {
    clearTimeout(timer)
    watcher.close()
  }
}

function isOwnWatch(arg: string, at: number, all: readonly string[]): boolean {
  const end = all.indexOf('--')
  return arg === '--watch' && (end === -1 || at < end)
}

/**
 * Whether a change of this file restarts the server: only source files, JSON and native modules do. A log file
 * that the server writes into its own folder must not cause an endless restart loop.
 */
export function isWatched(name: string): boolean {
  const isIgnored = name.split(sep).some(part => part === 'node_modules' || part.startsWith('.'))
  return !isIgnored && /\.(?:[cm]?[jt]s|[jt]sx|json|node|wasm)$/.test(name)
}

function exitOf(child: ReturnType<typeof spawn>, signal: AbortSignal): Promise<number> {
  return new Promise(done => {
    const stop = (): void => void child.kill('SIGTERM')
    signal.addEventListener('abort', stop, { once: true })
    child.once('exit', code => {
      signal.removeEventListener('abort', stop)
      done(code ?? exitCodes.failed)
    })
  })
}

function changed(watcher: ReturnType<typeof watch>, signal: AbortSignal): Promise<void> {
  return new Promise((done, stop) => {
    watcher.on('change', (_, name) => {
      if (isWatched(String(name))) done()
    })
    signal.addEventListener('abort', () => stop(signal.reason), { once: true })
  })
}
