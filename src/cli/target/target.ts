import { resolve } from 'node:path'
import { parseAddress, schemeOf } from '../../address.ts'
import type { UpstreamOptions } from '../../router/options.ts'
import type { ChildCommand } from '../../transport/process/child.ts'
import { placeOf, transportForScheme } from '../../transports.ts'
import { didYouMean } from '../../util/nearest.ts'
import type { CommandLine } from '../arguments.ts'
import { isBundleName } from '../bundles/bundle.ts'
import { UsageError, withUsageErrors } from '../exit.ts'

/** A server to connect to: an address, or a program to start. */
export interface CommandTarget {
  /** Display name. */
  readonly name: string
  readonly where: string | ChildCommand
  readonly headers?: Readonly<Record<string, string>>
  /** How the configuration authorizes requests to the server. */
  readonly auth?: UpstreamOptions['auth']
}

/** The servers of a configuration file, by name. */
export interface ConfiguredServers {
  readonly file: string | undefined
  readonly servers: ReadonlyMap<string, CommandTarget>
  /** Why servers are invalid, by name. */
  readonly invalid: ReadonlyMap<string, string>
}

/** Reads the servers of the given configuration file, or of the default one. */
export type LookUp = (file: string | undefined) => Promise<ConfiguredServers>

/** The target of a command line, and the remaining operands. */
export interface ResolvedTarget {
  readonly target: CommandTarget
  readonly operands: readonly string[]
}

/**
 * Determines the target: the program after `--`, or the first operand, which is an address or the name of a
 * configured server. An address in the second place is the target too, where the other operand cannot be one.
 * Throws a UsageError that says what to type instead.
 */
export async function resolveTarget(input: CommandLine, lookUp: LookUp): Promise<ResolvedTarget> {
  const { program, operands } = input
  if (program !== undefined) {
    const [command, ...args] = program
    if (command === undefined) throw new UsageError('missing program after "--"')
    const target = { name: program.join(' '), where: { command, args } }
    return { target: withTargetOptions(target, input), operands }
  }
  checkDashes(operands, input.command.name)
  const [first, ...rest] = addressFirst(operands, input.command.name)
  if (first === undefined) {
    throw new UsageError(
      `missing server: use trunkline ${input.command.name} http://127.0.0.1:3000/mcp, ` +
        `trunkline ${input.command.name} -- node server.js, or the name of a configured server`,
    )
  }
  const target = isAddress(first)
    ? await withUsageErrors(() => addressTarget(first))
    : await configuredTarget(first, input, lookUp)
  return { target: withTargetOptions(target, input), operands: rest }
}

/** Throws a UsageError for `list node server.js`, where the dashes before the program are missing. */
export function checkDashes(operands: readonly string[], command: string): void {
  const [first = '', second] = operands
  if (second === undefined || !programs.has(first)) return
  throw new UsageError(
    `a program follows "--": did you mean "trunkline ${command} -- ${operands.join(' ')}"?`,
  )
}

/** Programs that start servers. */
const programs: ReadonlySet<string> = new Set(
  'node npx bunx bun deno tsx python python3 uv uvx docker java dotnet'.split(' '),
)

/** Swaps the operands of `call add http://…`: no tool or prompt has the name of an address. */
function addressFirst(operands: readonly string[], command: string): readonly string[] {
  const [first = '', second = '', ...rest] = operands
  // The operand of `read` is a URI, so either could be the address.
  if (command === 'read' || isAddress(first) || !(isAddress(second) && /^\w+:/.test(second)))
    return operands
  return [second, first, ...rest]
}

/** Whether text looks like an address rather than a name. */
function isAddress(text: string): boolean {
  return transportForScheme(schemeOf(text)) !== undefined || text.includes('://')
}

function addressTarget(text: string): CommandTarget {
  if (placeOf(parseAddress(text)) !== undefined) return { name: text, where: text }
  throw new UsageError('"stdio:" is not a server address; start a program with "-- COMMAND"')
}

async function configuredTarget(
  name: string,
  input: CommandLine,
  lookUp: LookUp,
): Promise<CommandTarget> {
  // A bundle is a configuration with one server.
  const isBundle = isBundleName(name)
  const { file, servers, invalid } = await lookUp(isBundle ? name : input.value('config'))
  const found = isBundle ? [...servers.values()][0] : servers.get(name)
  if (found !== undefined) return found
  const problem = isBundle ? [...invalid.values()][0] : invalid.get(name)
  if (problem !== undefined) throw new UsageError(`server "${name}" in ${file}: ${problem}`)
  const url = urlOfHost(name)
  if (url !== undefined) return withUsageErrors(() => addressTarget(url))
  const meant = targetMeant(name, input.command.name)
  if (meant !== undefined) throw new UsageError(`"${name}" is ${meant}`)
  if (file === undefined) {
    throw new UsageError(
      `"${name}" is not an address, and there is no configuration file with servers; ` +
        'use an address such as http://127.0.0.1:3000/mcp, a program after "--", or --config FILE',
    )
  }
  const hint =
    didYouMean(name, servers.keys()) || `; its servers are ${[...servers.keys()].join(', ')}`
  const [, next] = input.operands
  const order =
    input.command.takesArguments && next?.includes('=')
      ? `; the server comes first: trunkline ${input.command.name} TARGET ${input.operands.join(' ')}`
      : ''
  throw new UsageError(`${file} has no server "${name}"${order || hint}`)
}

/** Completes `3000`, `localhost:3000` and `127.0.0.1:3000/path` to a URL; undefined for other text. */
function urlOfHost(text: string): string | undefined {
  const [, host = '127.0.0.1', port, path = ''] =
    /^(?:([\w.-]+|\[[\da-f:.]+\]):)?(\d{2,5})(\/.*)?$/i.exec(text) ?? []
  return port === undefined ? undefined : `http://${host}:${port}${path === '' ? '/mcp' : path}`
}

/** Says what a target is that is neither a name nor an address, and what to type instead; undefined if unknown. */
function targetMeant(text: string, command: string): string | undefined {
  const [, extension = ''] = /\.(\w+)$/.exec(text) ?? []
  const runtime = runtimes.get(extension.toLowerCase())
  if (runtime !== undefined)
    return `a file: to start it, use "trunkline ${command} -- ${runtime} ${text}"`
  if (/^jsonc?$/i.test(extension))
    return `a file: to use a server of this configuration, use "trunkline ${command} NAME --config ${text}"`
  if (/^[\w-]+(?:\.[\w-]+)+\/|^localhost(?:\/|$)/i.test(text))
    return `not an address: did you mean "${text.startsWith('localhost') ? 'http' : 'https'}://${text}"?`
  return undefined
}

/** The programs that run source files, by extension. */
const runtimes: ReadonlyMap<string, string> = new Map([
  ...['js', 'mjs', 'cjs', 'ts', 'mts'].map(extension => [extension, 'node'] as const),
  ['py', 'python3'],
])

/** Applies `--env`, `--cwd` and `--header` to a target. */
function withTargetOptions(target: CommandTarget, input: CommandLine): CommandTarget {
  const env = input.values('env')
  const cwd = input.value('cwd')
  const headers = input.values('header')
  const { where } = target
  if (typeof where === 'string') {
    if (env.length > 0 || cwd !== undefined) {
      throw new UsageError('--env and --cwd apply to programs, not to addresses')
    }
    return { ...target, headers: { ...target.headers, ...headersOf(headers) } }
  }
  if (headers.length > 0) {
    throw new UsageError(
      '--header applies to HTTP and WebSocket addresses; use --env for a program',
    )
  }
  return {
    ...target,
    where: {
      ...where,
      env: { ...where.env, ...variablesOf(env) },
      cwd: cwd === undefined ? where.cwd : resolve(cwd),
    },
  }
}

function headersOf(lines: readonly string[]): Record<string, string> {
  const headers: [string, string][] = lines.map(line => {
    const [, name, value] = /^([\w!#$%&'*+.^`|~-]+)\s*:\s*(.*)$/.exec(line) ?? []
    if (name !== undefined && value !== undefined) return [name, value.trim()]
    throw new UsageError(`--header must be "Name: value" (got "${line}")`)
  })
  return Object.fromEntries(headers)
}

function variablesOf(lines: readonly string[]): Record<string, string> {
  const variables: [string, string][] = lines.map(line => {
    const at = line.indexOf('=')
    if (at > 0) return [line.slice(0, at), line.slice(at + 1)]
    throw new UsageError(`--env must be NAME=VALUE (got "${line}")`)
  })
  return Object.fromEntries(variables)
}
