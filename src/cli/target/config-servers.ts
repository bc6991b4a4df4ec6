import type { UpstreamOptions } from '../../router/options.ts'
import { findConfig, loadConfig } from './config-file.ts'
import type { CommandTarget, ConfiguredServers } from './target.ts'

/**
 * Returns the servers of the given configuration file, or of the one in this folder; none if there is no file.
 * Throws a ConfigError if the file is invalid.
 */
export async function lookUpServers(given: string | undefined): Promise<ConfiguredServers> {
  const file = await findConfig(given).catch(() => undefined)
  if (file === undefined) return { file, servers: new Map(), invalid: new Map() }
  const { servers } = await loadConfig(file, process.env)
  const invalid = new Map(
    Object.entries(servers).flatMap(([name, { configError }]) =>
      configError === undefined ? [] : [[name, configError] as const],
    ),
  )
  const targets = Object.entries(servers).map(
    ([name, options]) => [name, configuredTarget(name, options)] as const,
  )
  return { file, servers: new Map(targets.filter(hasTarget)), invalid }
}

function hasTarget(
  entry: readonly [string, CommandTarget | undefined],
): entry is readonly [string, CommandTarget] {
  return entry[1] !== undefined
}

/** Returns the target of one instance of a configured server: the program, or the first address; undefined without one. */
export function configuredTarget(
  name: string,
  options: UpstreamOptions,
): CommandTarget | undefined {
  const { command, args, cwd, env, inheritEnv = [], url, urls = [], headers, auth } = options
  if (command !== undefined) {
    const inherited = Object.entries(process.env).filter(([variable]) =>
      inheritEnv.includes(variable),
    )
    return {
      name,
      where: { command, args, cwd, env: { ...Object.fromEntries(inherited), ...env } },
    }
  }
  const [first] = url === undefined ? urls : [url]
  if (first === undefined) return undefined
  return { name, where: typeof first === 'string' ? first : first.url, headers, auth }
}
