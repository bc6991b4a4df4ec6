import { isFile } from '../target/config-file.ts'
import { type HostRow, type HostScope, type HostSystem, hostPath, hosts } from './hosts.ts'

/** A configuration file of a host that exists. */
export interface FoundHostFile {
  readonly host: HostRow
  readonly scope: HostScope
  readonly path: string
}

/** Returns the configuration files of hosts that exist, those of the project first. */
export async function findHostFiles(
  system: HostSystem,
  scopes: readonly HostScope[] = ['project', 'user'],
): Promise<readonly FoundHostFile[]> {
  const candidates = scopes.flatMap(scope =>
    hosts.flatMap(host => {
      const path = hostPath(host, scope, system)
      return path === undefined ? [] : [{ host, scope, path }]
    }),
  )
  const exist = await Promise.all(candidates.map(({ path }) => isFile(path)))
  // In the home folder the file of the project and that of the user may be the same.
  const seen = new Set<string>()
  return candidates.filter(({ path }, at) => exist[at] && !seen.has(path) && seen.add(path))
}
