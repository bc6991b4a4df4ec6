import { Warning } from '../../util/warning.ts'
import { BackplaneError } from '../backplane-error.ts'
import type { PreparedConnection } from './connection.ts'
import { EngineReplyError } from './raw-connection.ts'
import { textReply } from './replies.ts'
import type { EngineAddress } from './topology/address.ts'

/** What to do about an engine of another kind than the address says, by its `redis_mode`. */
const otherKinds: Readonly<Record<string, string>> = {
  cluster:
    'the engine is part of a Redis Cluster: use an address that starts with redis-cluster://',
  sentinel: 'the engine is a sentinel: use an address such as redis-sentinel://HOST:PORT/NAME',
  standalone: 'the engine is no Redis Cluster: use an address that starts with redis://',
}

/**
 * Returns a function that checks an engine, until it has succeeded once: it throws a TypeError if the engine is of
 * another kind than the address says, and warns of settings.
 */
export function engineChecks(
  { kind }: EngineAddress,
  onWarning: ((warning: Warning) => void) | undefined,
): (connection: Pick<PreparedConnection, 'send'>) => Promise<void> {
  const wanted = kind === 'cluster' ? 'cluster' : 'standalone'
  let isChecked = false
  return async connection => {
    if (isChecked) return
    const info = await infoOf(connection)
    const [, mode = wanted] = /^redis_mode:(\w+)/m.exec(info) ?? []
    if (mode !== wanted) throw new TypeError(otherKinds[mode] ?? `the engine runs as "${mode}"`)
    isChecked = true
    for (const warning of settingWarnings(info)) onWarning?.(warning)
  }
}

/** Returns the reply to `INFO`; an empty text if the user may not ask for it. */
async function infoOf(connection: Pick<PreparedConnection, 'send'>): Promise<string> {
  try {
    return textReply(await connection.send(['INFO']))
  } catch (error) {
    const { cause } = error instanceof BackplaneError ? error : { cause: undefined }
    if (cause instanceof EngineReplyError && cause.message.startsWith('NOPERM')) return ''
    throw error
  }
}

/**
 * Returns a warning for each setting of an engine that endangers what a cluster stores, from its reply to `INFO`.
 * Each names the line to change.
 */
export function settingWarnings(info: string): Warning[] {
  const facts = new Map(
    Array.from(info.matchAll(/^(\w+):(.*?)\r?$/gm), ([, name, value]) => [name, value]),
  )
  const warnings: string[] = []
  const version = facts.get('redis_version') ?? ''
  const isValkey = facts.get('server_name') === 'valkey'
  if (!isValkey && Number.parseInt(version, 10) < 7) {
    warnings.push(`the engine is Redis ${version}; a cluster needs Redis 7.0 or newer, or Valkey`)
  }
  const policy = facts.get('maxmemory_policy')
  if (policy !== undefined && policy !== 'noeviction') {
    warnings.push(
      `the engine deletes data when its memory is full (maxmemory-policy ${policy}); set "maxmemory-policy noeviction"`,
    )
  }
  if (facts.get('aof_enabled') === '0') {
    warnings.push(
      'the engine may lose its latest data when it restarts; set "appendonly yes" and "appendfsync everysec"',
    )
  }
  return warnings.map(text => new Warning(text))
}
