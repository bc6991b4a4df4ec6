import { limits } from '../../util/limits/limits.ts'
import type { Clock } from '../../util/time/clock.ts'
import type { RedisConnection } from './connection.ts'
import type { RedisKeys } from './keys.ts'
import { isUnknownScript } from './reply-errors.ts'
import type { RedisScript } from './scripts/script.ts'
import type { RedisCommands } from './topology/commands.ts'

/** Runs commands and scripts. */
export interface RedisEngine {
  readonly keys: RedisKeys
  /** Sends everything but heartbeats. */
  readonly commands: RedisCommands
  /** Runs a script whose keys are on the same shard, on a connection or where `commands` sends it. */
  run(
    script: RedisScript,
    keys: readonly [string, ...string[]],
    args: readonly (string | number)[],
    connection?: RedisConnection,
  ): Promise<unknown>
}

/** Creates an engine that sends commands. */
export function redisEngine(keys: RedisKeys, commands: RedisCommands, clock: Clock): RedisEngine {
  const hashes = new Map<RedisScript, string>()
  return {
    keys,
    commands,
    run: async (script, names, args, connection) => {
      const hash = hashes.get(script) ?? (await sha1(script.text))
      hashes.set(script, hash)
      const rest = [`${names.length}`, ...names, ...args.map(String)]
      const started = clock.now()
      const send = (command: readonly string[], timeoutMs: number) =>
        connection === undefined
          ? commands.send(names[0], command, timeoutMs)
          : connection.send(command, timeoutMs)
      try {
        return await send(['EVALSHA', hash, ...rest], limits.engineMs.default)
      } catch (error) {
        if (!isUnknownScript(error)) throw error
        const leftMs = limits.engineMs.default - (clock.now() - started)
        return send(['EVAL', script.text, ...rest], Math.max(1, leftMs))
      }
    },
  }
}

async function sha1(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), byte => byte.toString(16).padStart(2, '0')).join('')
}
