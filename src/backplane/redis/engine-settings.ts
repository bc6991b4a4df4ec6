import { Warning } from '../../util/warning.ts'

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
