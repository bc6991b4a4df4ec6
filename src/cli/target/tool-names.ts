import { type ConnectOptions, connect } from '../../connect.ts'
import { limits } from '../../util/limits/limits.ts'
import type { CommandLine } from '../arguments.ts'
import { authOf } from './authorization.ts'
import { findConfig, loadConfig } from './config-file.ts'
import { lookUpServers } from './config-servers.ts'
import { resolveTarget } from './target.ts'

/**
 * Returns the names of the tools of a target, for the completion of a shell. Connects to a server at an
 * address; for a configured program, which would take too long to start, to the running router. Returns
 * nothing if that does not respond within the limit `completionMs`.
 */
export async function toolNames(input: CommandLine, target: string): Promise<readonly string[]> {
  const signal = AbortSignal.timeout(limits.completionMs.default)
  try {
    const found = await resolveTarget({ ...input, operands: [target] }, lookUpServers)
    const { where, headers } = found.target
    if (typeof where === 'string') {
      return await namesAt(where, signal, { headers, auth: await authOf(found.target, input) })
    }
    return await namesBehindRouter(target, input.value('config'), signal)
  } catch {
    // A message would end up in the middle of what the user types.
    return []
  }
}

async function namesAt(
  address: string,
  signal: AbortSignal,
  how: Pick<ConnectOptions, 'headers' | 'auth'> = {},
): Promise<readonly string[]> {
  const quiet = { ...how, signal, reconnect: false as const, onError: () => {} }
  const client = await connect(address, quiet)
  try {
    const names: string[] = []
    for await (const { name } of client.tools({ signal })) names.push(name)
    return names
  } finally {
    await client.close()
  }
}

async function namesBehindRouter(
  server: string,
  config: string | undefined,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { listen, servers } = await loadConfig(await findConfig(config), process.env)
  const [address] = listen.filter(one => one !== 'stdio:')
  if (address === undefined) return []
  const { prefix = `${server}__` } = servers[server] ?? {}
  const names = await namesAt(address, signal)
  if (prefix === false) return names
  return names.flatMap(name => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []))
}
