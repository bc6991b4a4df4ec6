import { resolve } from 'node:path'
import { parseAddress } from '../../address.ts'
import type { ChildCommand } from '../../transport/process/child.ts'
import { didYouMean } from '../../util/did-you-mean.ts'
import type { Input } from '../arguments.ts'
import { asked, UsageError } from '../exit.ts'

/** A server to talk to: an address, or a program to start. */
export interface Target {
  /** As it is shown. */
  readonly name: string
  readonly where: string | ChildCommand
  readonly headers?: Readonly<Record<string, string>>
}

/** The servers of the configuration, by name, and the file they stand in. */
export interface KnownServers {
  readonly file: string | undefined
  readonly servers: ReadonlyMap<string, Target>
}

/** Looks the configuration up: the file that was named, or the one that is found. */
export type LookUp = (file: string | undefined) => Promise<KnownServers>

/** A target, and what stands on the command line besides it. */
export interface Targeted {
  readonly target: Target
  readonly operands: readonly string[]
}

/**
 * Finds out which server is meant: the program behind `--`, else the first operand, which is an address
 * or a name from the configuration. Throws a UsageError that says what to type instead.
 */
export async function resolveTarget(input: Input, lookUp: LookUp): Promise<Targeted> {
  const { program, operands } = input
  if (program !== undefined) {
    const [command, ...args] = program
    if (command === undefined) throw new UsageError('a program is needed behind "--"')
    const target = { name: program.join(' '), where: { command, args } }
    return { target: adjusted(target, input), operands }
  }
  const [first, ...rest] = operands
  if (first === undefined) {
    throw new UsageError(
      `a server is needed: trunkline ${input.command.name} http://127.0.0.1:3000/mcp, ` +
        `trunkline ${input.command.name} -- node server.js, or a name from the configuration`,
    )
  }
  const target = isAddress(first)
    ? await asked(() => addressed(first))
    : await named(first, input, lookUp)
  return { target: adjusted(target, input), operands: rest }
}

/** Whether a text is meant as an address rather than a name. */
function isAddress(text: string): boolean {
  return /^(?:stdio|tcp|unix|pipe|wss?|https?):/i.test(text) || text.includes('://')
}

function addressed(text: string): Target {
  if (parseAddress(text).kind !== 'stdio') return { name: text, where: text }
  throw new UsageError('"stdio:" is no server to talk to; start a program with "-- COMMAND"')
}

async function named(name: string, input: Input, lookUp: LookUp): Promise<Target> {
  const { file, servers } = await lookUp(input.value('config'))
  const found = servers.get(name)
  if (found !== undefined) return found
  if (file === undefined) {
    throw new UsageError(
      `"${name}" is no address, and there is no configuration to look it up in; ` +
        'give an address such as http://127.0.0.1:3000/mcp, a program behind "--", or --config FILE',
    )
  }
  const hint = didYouMean(name, servers.keys()) || `; it has ${[...servers.keys()].join(', ')}`
  throw new UsageError(`${file} has no server "${name}"${hint}`)
}

/** The target with what the options say about it on top. */
function adjusted(target: Target, input: Input): Target {
  const env = input.values('env')
  const cwd = input.value('cwd')
  const headers = input.values('header')
  const { where } = target
  if (typeof where === 'string') {
    if (env.length > 0 || cwd !== undefined) {
      throw new UsageError('--env and --cwd are for programs that are started, not for addresses')
    }
    return { ...target, headers: { ...target.headers, ...headersOf(headers) } }
  }
  if (headers.length > 0) {
    throw new UsageError('--header is for HTTP and WebSockets; a program takes --env')
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
    throw new UsageError(`--header is "Name: value", not "${line}"`)
  })
  return Object.fromEntries(headers)
}

function variablesOf(lines: readonly string[]): Record<string, string> {
  const variables: [string, string][] = lines.map(line => {
    const at = line.indexOf('=')
    if (at > 0) return [line.slice(0, at), line.slice(at + 1)]
    throw new UsageError(`--env is NAME=VALUE, not "${line}"`)
  })
  return Object.fromEntries(variables)
}
