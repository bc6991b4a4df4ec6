import { resolve } from 'node:path'
import { ConfigError } from '../../router/config/issue.ts'
import { UsageError } from '../exit.ts'
import { findHostFiles } from '../hosts/find.ts'
import type { HostScope } from '../hosts/hosts.ts'
import type { Invocation } from '../invocation.ts'
import { findConfig, loadConfig } from '../target/config-file.ts'

/** Returns the configuration files to read; none for the demo, or if none was named and none is found. */
export async function configPaths(invocation: Invocation): Promise<readonly string[]> {
  const { input } = invocation
  if (input.has('demo')) return []
  const program = input.operands.find(operand => /\.(?:[cm]?[jt]s|py)$/i.test(operand))
  if (program !== undefined) {
    const meant = program.endsWith('.py') ? '' : `; did you mean "trunkline serve ${program}"?`
    throw new UsageError(`"${program}" is a program, not a configuration file${meant}`)
  }
  const scope = input.value('hosts')
  if (input.operands.length > 0 || scope !== undefined) {
    const found = await usableFiles(invocation, hostScopes.get(scope ?? '') ?? [])
    const paths = [...input.operands, ...found]
    if (paths.length === 0) {
      throw new UsageError(`no configuration file of a host with servers was found (${scope})`)
    }
    return paths.filter((path, at) => paths.findIndex(one => resolve(one) === resolve(path)) === at)
  }
  try {
    return [await findConfig(undefined)]
  } catch (error) {
    if (error instanceof ConfigError) return []
    throw error
  }
}

const hostScopes: ReadonlyMap<string, readonly HostScope[]> = new Map([
  ['project', ['project']],
  ['user', ['user']],
  ['all', ['project', 'user']],
])

/**
 * Returns the files of hosts that have servers. One that is invalid as a whole is reported and left out, because the
 * user did not name it; with `--strict` it is an error.
 */
async function usableFiles(
  { input, terminal, env }: Invocation,
  scopes: readonly HostScope[],
): Promise<readonly string[]> {
  const found = await findHostFiles({ platform: process.platform, env, folder: '.' }, scopes)
  const usable: string[] = []
  for (const { path } of found) {
    try {
      const { servers } = await loadConfig(path, env)
      if (Object.keys(servers).length > 0) usable.push(path)
    } catch (error) {
      if (!(error instanceof ConfigError) || input.has('strict')) throw error
      terminal.note(`left out: ${error.message}`)
    }
  }
  return usable
}
