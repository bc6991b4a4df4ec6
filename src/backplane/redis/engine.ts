import { limits } from '../../util/limits/limits.ts'
import type { Clock } from '../../util/time/clock.ts'
import type { RedisConnection } from './connection.ts'
import type { RedisKeys } from './keys.ts'
import { isUnknownScript } from './reply-errors.ts'
import type { RedisScript } from './scripts/script.ts'

/** Runs commands and scripts. */
export interface RedisEngine {
  readonly keys: RedisKeys
  /** The connection for everything but heartbeats and messages. */
  readonly commands: RedisConnection
  /** Runs a script on a connection, `commands` by default. */
  run(
    script: RedisScript,
    keys: readonly string[],
    args: readonly (string | number)[],
    connection?: RedisConnection,
  ): Promise<unknown>
}

/** Creates an engine from its main connection. */
export function redisEngine(keys: RedisKeys, commands: RedisConnection, clock: Clock): RedisEngine {
  const hashes = new Map<RedisScript, string>()
  return {
    keys,
    commands,
    run: async (script, names, args, connection = commands) => {
      const hash = hashes.get(script) ?? (await sha1(script.text))
      hashes.set(script, hash)
      const rest = [`${names.length}`, ...names, ...args.map(String)]
      const started = clock.now()
      try {
        return await connection.send(['EVALSHA', hash, ...rest])
      } catch (error) {
        if (!isUnknownScript(error)) throw error
        const leftMs = limits.engineMs.default - (clock.now() - started)
        return connection.send(['EVAL', script.text, ...rest], Math.max(1, leftMs))
      }
    },
  }
}

async function sha1(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), byte => byte.toString(16).padStart(2, '0')).join('')
}
