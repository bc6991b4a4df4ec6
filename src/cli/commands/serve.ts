import { spawn } from 'node:child_process'
import { existsSync, watch } from 'node:fs'
import { dirname, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseAddress } from '../../address.ts'
import type { Endpoint } from '../../mcp/endpoint.ts'
import { isEndpoint } from '../../protocol.ts'
import { serve } from '../../serve.ts'
import { addressesOf } from '../../serve-address.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'
import type { Input } from '../arguments.ts'
import { asked, exitCodes, UsageError } from '../exit.ts'
import type { Invocation, Run } from '../invocation.ts'

/** Runs a file that exports a server, or serves by itself. */
export const run: Run = async invocation => {
  const { input } = invocation
  const [name] = input.operands
  if (name === undefined) throw new UsageError('a file is needed: trunkline serve server.js')
  const file = resolve(name)
  if (!existsSync(file)) throw new UsageError(`there is no file ${file}`)
  const addresses = await asked(() => wantedAddresses(input, invocation.env))
  if (input.has('watch')) return watched(file, invocation)
  return served(file, addresses, invocation)
}

/** Where to serve: the operands behind the file, and the options. Undefined where neither says. */
function wantedAddresses(input: Input, env: Invocation['env']): readonly string[] | undefined {
  const given = input.operands.slice(1)
  for (const address of given) parseAddress(address)
  const flags = flagsOf(input)
  const named = flags.length === 0 ? [] : addressesOf(flags, env)
  const all = [...given, ...named]
  return all.length === 0 ? undefined : all
}

const transports = ['stdio', 'http', 'ws', 'tcp', 'unix', 'pipe'] as const

function flagsOf(input: Input): string[] {
  return transports.flatMap(name => {
    if (!input.has(name)) return []
    const value = input.value(name)
    return value === undefined || value === '' ? [`--${name}`] : [`--${name}=${value}`]
  })
}

async function served(
  file: string,
  addresses: readonly string[] | undefined,
  { input, env, terminal }: Invocation,
): Promise<number> {
  // For files that serve by themselves: they look at their arguments and their environment.
  const forwarded = (addresses ?? []).map(asFlag)
  process.argv = [
    process.execPath,
    file,
    ...forwarded.map(({ flag }) => flag),
    ...(input.program ?? []),
  ]
  const path = forwarded.find(each => each.path !== undefined)?.path
  if (path !== undefined) process.env.MCP_PATH = path
  const listening = process.listenerCount('SIGTERM')
  const endpoint = exported(await load(file))
  // A file may export its server and serve it as well: then it is served already.
  if (endpoint === undefined || process.listenerCount('SIGTERM') > listening) return itself(file)
  const serving = await asked(() =>
    serve(endpoint, { addresses: addresses ?? addressesOf([], env) }),
  )
  // On stdio, stdout is the wire.
  if (input.has('json') && !serving.addresses.includes('stdio:')) {
    terminal.json({ addresses: serving.addresses })
  }
  await serving.ended
  return exitCodes.ok
}

/** Waits for a file that serves by itself, which ends the process when it is done. */
function itself(file: string): Promise<number> {
  return new Promise((resolve, reject) => {
    process.once('beforeExit', () => {
      // Nothing is left that could happen. Whoever read its input has served.
      if (process.stdin.readableFlowing !== null) return resolve(exitCodes.ok)
      const how = 'export it as "server" or as default, or call serve(server)'
      reject(new UsageError(`${file} neither exports a server nor serves one; ${how}`))
    })
  })
}

async function load(file: string): Promise<unknown> {
  try {
    return await import(pathToFileURL(file).href)
  } catch (error) {
    if (isRecord(error) && error.code === 'ERR_UNKNOWN_FILE_EXTENSION') {
      const what = `this Node (${process.version}) cannot run ${file}`
      throw new UsageError(`${what}; compile it to JavaScript first, or use a newer Node`)
    }
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error)
    throw new UsageError(`${file} cannot be loaded: ${why}`, { cause: error })
  }
}

function exported(module: unknown): Endpoint | undefined {
  if (!isRecord(module)) return undefined
  return [module.default, module.server].find(isEndpoint)
}

/** An address as the argument that `serve` understands, and the path that it has no argument for. */
function asFlag(address: string): { readonly flag: string; readonly path?: string } {
  const where = parseAddress(address)
  switch (where.kind) {
    case 'stdio':
      return { flag: '--stdio' }
    case 'tcp':
      return {
        flag: `--tcp=${where.host.includes(':') ? `[${where.host}]` : where.host}:${where.port}`,
      }
    case 'unix':
      return { flag: `--unix=${where.path}` }
    case 'pipe':
      return { flag: `--pipe=${where.path.slice(where.path.lastIndexOf('\\') + 1)}` }
    case 'websocket':
    case 'http': {
      const { hostname, port, pathname } = where.url
      const name = where.kind === 'http' ? 'http' : 'ws'
      return { flag: `--${name}=${hostname}:${port || '80'}`, path: pathname }
    }
  }
}

/** Runs this command in another process, and starts that again whenever a file beside it changes. */
async function watched(file: string, invocation: Invocation): Promise<number> {
  const { terminal, signal } = invocation
  const folder = dirname(file)
  const args = process.argv.slice(2).filter((arg, at, all) => !isOwnWatch(arg, at, all))
  const program = process.argv[1] ?? fileURLToPath(import.meta.url)
  let child = spawn(process.execPath, [program, ...args], { stdio: 'inherit' })
  let isRestarting = false
  let timer: NodeJS.Timeout | undefined
  const restart = (): void => {
    isRestarting = true
    terminal.note(`something in ${folder} changed; starting again`)
    child.kill('SIGTERM')
  }
  const watcher = watch(folder, { recursive: true }, (_, name) => {
    if (name === null || !isWatched(name)) return
    // Editors write a file in several steps.
    clearTimeout(timer)
    timer = setTimeout(restart, limits.watchMs.default)
  })
  terminal.note(`watching ${folder}`)
  try {
    for (;;) {
      const code = await ended(child, signal)
      // As without --watch: being told to stop is how this ends well.
      if (signal.aborted) return exitCodes.ok
      if (!isRestarting) {
        terminal.note(`the server ended with code ${code}; waiting for a change`)
        // Standard input that has ended does not come back.
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
 * Whether a server may be another one when this file of its folder is: what it is made of, and not what
 * it, or whoever started it, writes there. A log in the folder would else have it started for ever.
 */
export function isWatched(name: string): boolean {
  const isElsewhere = name.split(sep).some(part => part === 'node_modules' || part.startsWith('.'))
  return !isElsewhere && /\.(?:[cm]?[jt]s|[jt]sx|json|node|wasm)$/.test(name)
}

function ended(child: ReturnType<typeof spawn>, signal: AbortSignal): Promise<number> {
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
