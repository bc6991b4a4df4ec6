import { RemoteConnection, type RemoteConnectionOptions } from '../remote/connection.ts'
import { EngineReplyError, type OpenRaw, type RawConnection } from './raw-connection.ts'
import { commandError, isMoved, needsNewConnection } from './reply-errors.ts'

/** What a connection needs. */
export interface ConnectionOptions
  extends Pick<
    RemoteConnectionOptions<RawConnection>,
    'name' | 'clock' | 'onUp' | 'onFailedAttempt' | 'onDown'
  > {
  readonly open: OpenRaw
  /** Runs on each new connection after a `PING`; the connection is up once it resolves. */
  prepare?(connection: PreparedConnection): Promise<void>
  /** Whether keys that have moved to another engine end the connection, so that the next one leads there. */
  readonly followsKeys?: boolean
}

/** A connection that is being prepared. Each of its commands has a deadline. */
export type PreparedConnection = Pick<RawConnection, 'send' | 'subscribe'>

/** A connection to Redis that is replaced when it fails. */
export class RedisConnection {
  readonly #remote: RemoteConnection<RawConnection>

  constructor(options: ConnectionOptions) {
    const { prepare, followsKeys = false } = options
    this.#remote = new RemoteConnection({
      ...options,
      errors: {
        commandError,
        isReply: error => error instanceof EngineReplyError,
        needsNewConnection: error => needsNewConnection(error) || (followsKeys && isMoved(error)),
      },
      prepare: async run => {
        const send = (args: readonly string[]) => run(raw => raw.send(args))
        await send(['PING'])
        await prepare?.({
          send,
          subscribe: (channel, listener) => run(raw => raw.subscribe(channel, listener)),
        })
      },
    })
  }

  get isUp(): boolean {
    return this.#remote.isUp
  }

  /** Why the last connection, or attempt to connect, failed. */
  get lastError(): unknown {
    return this.#remote.lastError
  }

  /** Connects, and goes on until `close` is called. Call it once. */
  start(): Promise<void> {
    return this.#remote.start()
  }

  /** Sends a command. `timeoutMs` is what remains of the deadline of an operation. */
  send(args: readonly string[], timeoutMs?: number): Promise<unknown> {
    const size = args.reduce((sum, arg) => sum + arg.length, 0)
    return this.#remote.run(raw => raw.send(args), size, timeoutMs)
  }

  /** Subscribes to a channel on the present connection; a new connection knows nothing of it. */
  subscribe(channel: string, listener: (text: string) => void): Promise<void> {
    return this.#remote.run(raw => raw.subscribe(channel, listener), channel.length)
  }

  /** Ends the subscription to a channel on the present connection. */
  unsubscribe(channel: string): Promise<void> {
    return this.#remote.run(raw => raw.unsubscribe(channel), channel.length)
  }

  /** Replaces the connection. */
  replace(error: unknown): void {
    this.#remote.replace(error)
  }

  /** Closes the connection. Commands in flight reject with `unknown`. */
  close(): void {
    this.#remote.close()
  }
}
