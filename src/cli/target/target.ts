import { resolve } from 'node:path'
import { parseAddress } from '../../address.ts'
import type { ChildCommand } from '../../transport/process/child.ts'
import { didYouMean } from '../../util/nearest.ts'
import type { CommandLine } from '../arguments.ts'
import { UsageError, withUsageErrors } from '../exit.ts'

/** A server to connect to: an address, or a program to start. */
export interface Target {
  /** Display name. */
  readonly name: string
  readonly where: string | ChildCommand
  readonly headers?: Readonly<Record<string, string>>
}

/** The servers of a configuration file, by name. */
export interface ConfiguredServers {
  readonly file: string | undefined
  readonly servers: ReadonlyMap<string, Target>
}

/** Reads the servers of the given configuration file, or of the default one. */
export type LookUp = (file: string | undefined) => Promise<ConfiguredServers>

/** The target of a command line, and the remaining operands. */
export interface ResolvedTarget {
  readonly target: Target
  readonly operands: readonly string[]
}

/**
 * Determines the target: the program after `--`, or the first operand, which is an address or the name of a
 * configured server. Throws a UsageError that says what to type instead.
 */
export async function resolveTarget(input: CommandLine, lookUp: LookUp): Promise<ResolvedTarget> {
  const { program, operands } = input
  if (program !== undefined) {
    const [command, ...args] = program
    if (command === undefined) throw new UsageError('missing program after "--"')
    const target = { name: program.join(' '), where: { command, args } }
    return { target: withTargetOptions(target, input), operands }
  }
  const [first, ...rest] = operands
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

/** Whether text looks like an address rather than a name. */
function isAddress(text: string): boolean {
  return /^(?:stdio|tcp|unix|pipe|wss?|https?):/i.test(text) || text.includes('://')
}

function addressTarget(text: string): Target {
  if (parseAddress(text).kind !== 'stdio') return { name: text, where: text }
  throw new UsageError('"stdio:" is not a server address; start a program with "-- COMMAND"')
}

async function configuredTarget(name: string, input: CommandLine, lookUp: LookUp): Promise<Target> {
  const { file, servers } = await lookUp(input.value('config'))
  const found = servers.get(name)
  if (found !== undefined) return found
  if (file === undefined) {
    throw new UsageError(
      `"${name}" is not an address, and there is no configuration file with servers; ` +
        'use an address such as http://127.0.0.1:3000/mcp, a program after "--", or --config FILE',
    )
  }
  const hint =
    didYouMean(name, servers.keys()) || `; its servers are ${[...servers.keys()].join(', ')}`
  throw new UsageError(`${file} has no server "${name}"${hint}`)
}

/** Applies `--env`, `--cwd` and `--header` to a target. */
function withTargetOptions(target: Target, input: CommandLine): Target {
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
