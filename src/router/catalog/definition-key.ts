import type { UpstreamOptions } from '../options.ts'
import { shortHash } from '../policy/hash.ts'

/**
 * Returns the key of a server: its name and a hash of its definition, without the values of variables and
 * headers. Undefined for an endpoint of this process, whose lists are not remembered.
 */
export function definitionKey(name: string, options: UpstreamOptions): string | undefined {
  const { server, command, args, cwd, env, inheritEnv, url, urls, headers, type } = options
  if (server !== undefined) return undefined
  const names = [Object.keys(env ?? {}), Object.keys(headers ?? {})]
  const definition = [command, args, cwd, inheritEnv, url, urls, type, ...names]
  return `${name}:${shortHash(JSON.stringify(definition))}`
}
