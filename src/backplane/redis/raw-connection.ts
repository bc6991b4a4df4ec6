import { limits } from '../../util/limits/limits.ts'

/** One connection to an engine, as the package `@redis/client` makes it. It is never used again once it failed. */
export interface RawConnection {
  /** Connects and authenticates. */
  connect(): Promise<void>
  /** Sends a command. Rejects with `EngineReplyError` if the engine replies with an error. */
  send(args: readonly string[]): Promise<unknown>
  /** Subscribes to a channel. */
  subscribe(channel: string, listener: (text: string) => void): Promise<void>
  /** Ends the subscription to a channel. */
  unsubscribe(channel: string): Promise<void>
  /** Closes the connection at once. Idempotent. */
  destroy(): void
}

/** Makes a connection, and calls `onLost` when it fails. */
export type OpenRaw = (onLost: (error: unknown) => void) => RawConnection

/**
 * Returns a way to make connections to the engine at a URL. `isSharded`: its messages are those of a shard of a Redis
 * Cluster, so a channel whose slot moves to another engine ends the connection.
 */
export type DialEngine = (url: string, isSharded?: boolean) => OpenRaw

/** An error reply of an engine. The engine has received the command and answered it. */
export class EngineReplyError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'EngineReplyError'
  }
}

/** Loads the package `@redis/client`. Rejects with a TypeError if it is not installed. */
export async function loadRedis(): Promise<DialEngine> {
  const { createClient, ErrorReply } = await import('@redis/client').catch(cause => {
    throw new TypeError('a backplane in Redis needs a package: npm install @redis/client', {
      cause,
    })
  })
  const replyError = (error: unknown) =>
    error instanceof ErrorReply ? new EngineReplyError(error.message) : error
  // It never connects. `createClient` would define a class with every command of Redis for each URL, which blocks the
  // event loop for tens of milliseconds; duplicates share one class.
  const template = createClient({
    RESP: 2,
    // A connection is replaced and never repaired, because what waited for it has failed already.
    disableOfflineQueue: true,
  })
  return (url, isSharded = false) =>
    onLost => {
      const client = template.duplicate({
        url,
        socket: { reconnectStrategy: false, connectTimeout: limits.engineConnectMaxMs.default },
      })
      client.on('error', onLost)
      client.on('end', () => onLost(new Error('the connection was closed')))
      client.on('sharded-channel-moved', () =>
        onLost(new Error('a channel moved to another engine')),
      )
      let isDestroyed = false
      return {
        connect: async () => {
          await client.connect().catch(error => {
            throw replyError(error)
          })
        },
        send: args =>
          client.sendCommand([...args]).catch(error => {
            throw replyError(error)
          }),
        subscribe: (channel, listener) => {
          return isSharded
            ? client.sSubscribe(channel, listener)
            : client.subscribe(channel, listener)
        },
        unsubscribe: channel => {
          return isSharded ? client.sUnsubscribe(channel) : client.unsubscribe(channel)
        },
        destroy: () => {
          if (isDestroyed) return
          isDestroyed = true
          // It throws if the connection has ended by itself.
          if (client.isOpen) client.destroy()
        },
      }
    }
}
