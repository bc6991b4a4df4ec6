import { limits } from '../../../util/limits/limits.ts'
import type { ConnectionOptions, PreparedConnection, RedisConnection } from '../connection.ts'
import { arrayReply } from '../replies.ts'

/** Sends commands to the engine that has a key: the only one, or one of the shards of a Redis Cluster. */
export interface RedisCommands {
  /** Whether every engine can be reached. */
  readonly isUp: boolean
  /** Why the last connection, or attempt to connect, failed. */
  readonly lastError: unknown
  /** Connects, and goes on until `close` is called. Call it once. */
  start(): Promise<void>
  close(): void
  /** Sends a command for a key. `timeoutMs` is what remains of the deadline of an operation. */
  send(key: string, args: readonly string[], timeoutMs?: number): Promise<unknown>
  /** Returns the replies to `GET` for several keys, in their order. */
  getAll(keys: readonly string[]): Promise<readonly unknown[]>
  /** The connections to engines that heartbeats do not use, each with a key that its engine has. */
  readonly others: readonly (readonly [connection: RedisConnection, key: string])[]
}

/** What the connections for commands need. */
export interface CommandOptions extends Omit<ConnectionOptions, 'open' | 'prepare'> {
  /** Called with each new connection, and with a key that its engine has. */
  prepare(connection: PreparedConnection, key: string): Promise<void>
}

/** Sends all commands to one engine. */
export function singleEngine(connection: RedisConnection): RedisCommands {
  return {
    get isUp() {
      return connection.isUp
    },
    get lastError() {
      return connection.lastError
    },
    start: () => connection.start(),
    close: () => connection.close(),
    send: (_, args, timeoutMs = limits.engineMs.default) => connection.send(args, timeoutMs),
    getAll: async keys => arrayReply(await connection.send(['MGET', ...keys])),
    others: [],
  }
}
