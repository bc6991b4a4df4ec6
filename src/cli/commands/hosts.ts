import { errorMessage } from '../../util/text/error-message.ts'
import { exitCodes } from '../exit.ts'
import { type FoundHostFile, findHostFiles } from '../hosts/find.ts'
import type { Run } from '../invocation.ts'
import { loadConfig } from '../target/config-file.ts'
import { oneLine } from '../terminal.ts'

/** `trunkline hosts`: shows the configuration files of hosts, and their servers. Starts nothing. */
export const run: Run = async ({ input, terminal, env }) => {
  const system = { platform: process.platform, env, folder: '.' }
  const found = await findHostFiles(system)
  const files = await Promise.all(found.map(file => describeFile(file, env)))
  if (input.has('json')) terminal.json({ files })
  else if (files.length === 0) terminal.line('no configuration file of a host was found')
  for (const { path, host, scope, servers, error } of input.has('json') ? [] : files) {
    terminal.line(`${path} (${host}, ${scope})`)
    if (error !== undefined) terminal.line(`  ✗ ${oneLine(error, 300)}`)
    for (const { name, state, reason } of servers) {
      const mark = { ok: '✓', disabled: '-', invalid: '✗' }[state]
      terminal.line(`  ${mark} ${name}${reason === undefined ? '' : ` (${oneLine(reason, 300)})`}`)
    }
  }
  return exitCodes.ok
}

/** A server as the list shows it. */
interface ListedServer {
  readonly name: string
  readonly state: 'ok' | 'disabled' | 'invalid'
  readonly reason?: string
}

async function describeFile(
  { host, scope, path }: FoundHostFile,
  env: Parameters<typeof loadConfig>[1],
): Promise<{
  readonly path: string
  readonly host: string
  readonly scope: string
  readonly servers: readonly ListedServer[]
  readonly error?: string
}> {
  const file = { path, host: host.title, scope }
  try {
    const config = await loadConfig(path, env)
    const servers = Object.entries(config.servers).map(([name, options]): ListedServer => {
      const { disabled, configError } = options
      if (disabled === true) return { name, state: 'disabled' }
      if (configError === undefined) return { name, state: 'ok' }
      return { name, state: 'invalid', reason: configError }
    })
    return { ...file, servers }
  } catch (error) {
    return { ...file, servers: [], error: errorMessage(error) }
  }
}
