import { BackplaneError } from '../../backplane-error.ts'
import { RemoteConnection, type RemoteConnectionOptions } from '../../remote/connection.ts'
import { headerBytes } from './jetstream.ts'
import type { RawNats } from './raw-connection.ts'
import { natsErrors } from './reply-errors.ts'

/** What a connection needs. */
export type NatsConnectionOptions = Omit<RemoteConnectionOptions<RawNats>, 'errors'>

/** A connection to NATS that is replaced when it fails. */
export class NatsConnection {
  readonly name: string
  readonly #remote: RemoteConnection<RawNats>
  /** The size of the largest message that the engine accepts; unlimited before the first connection. */
  #maxPayload = Number.POSITIVE_INFINITY

  constructor(options: NatsConnectionOptions) {
    this.name = options.name
    this.#remote = new RemoteConnection({
      ...options,
      errors: natsErrors,
      prepare: async run => {
        await run(raw => {
          this.#maxPayload = raw.maxPayload
          return raw.flush()
        })
        await options.prepare(run)
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

  /** Runs a command of a size. `timeoutMs` is what remains of the deadline of an operation. */
  run<T>(command: (raw: RawNats) => Promise<T>, size = 0, timeoutMs?: number): Promise<T> {
    return this.#remote.run(command, size, timeoutMs)
  }

  /** Sends something that has no reply. Returns false if there is no connection. */
  send(message: (raw: RawNats) => void): boolean {
    return this.#remote.send(message)
  }

  /** Throws `too-large` if the engine does not accept a message with this text. */
  checkSize(text: string): void {
    const room = this.#maxPayload - headerBytes
    // UTF-8 takes at most three bytes for each UTF-16 code unit.
    if (text.length * 3 <= room) return
    const bytes = new TextEncoder().encode(text).length
    if (bytes <= room) return
    throw new BackplaneError(
      'too-large',
      `a message of ${bytes} bytes is over the limit of the engine, ${this.#maxPayload} bytes; set "max_payload: 9MB" there`,
    )
  }

  /** Closes the connection. Commands in flight reject with `unknown`. */
  close(): void {
    this.#remote.close()
  }
}
