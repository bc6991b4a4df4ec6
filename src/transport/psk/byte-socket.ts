import type { Socket } from 'node:net'
import { endSocket } from '../../util/sockets/end-socket.ts'

/** A connection that carries bytes. */
export interface ByteSocket {
  /** The bytes that were written and that the system has not accepted yet. */
  readonly unsent: number
  /** Begins to read. The caller calls it once, in the same turn in which it gets the socket. */
  start(events: ByteSocketEvents): void
  /** Writes bytes, which must not change afterwards. */
  write(bytes: Uint8Array): void
  /** Sends what was written and closes, in bounded time. No data arrives any more. */
  end(): void
  /** Closes at once. */
  destroy(): void
}

/** What happens on a `ByteSocket`. */
export interface ByteSocketEvents {
  /** Bytes arrived; they are never changed. */
  data(bytes: Uint8Array): void
  /** The system has accepted everything that was written, after it could not do so at once. */
  drained(): void
  /** The connection is closed. The reason of a failure is one line that does not name the address. */
  closed(reason: string | undefined): void
}

/** Makes the `ByteSocket` of a socket. `reasonOf` describes an error in one line. */
export function byteSocket(socket: Socket, reasonOf: (error: Error) => string): ByteSocket {
  let onData: ((chunk: Uint8Array) => void) | undefined
  return {
    get unsent() {
      return socket.writableLength
    },
    start: events => {
      let reason: string | undefined
      onData = chunk => events.data(chunk)
      socket.setNoDelay(true)
      socket.on('data', onData)
      socket.on('drain', () => events.drained())
      socket.on('error', error => {
        reason ??= reasonOf(error)
      })
      socket.once('close', () => events.closed(reason))
    },
    write: bytes => void socket.write(bytes),
    end: () => {
      if (onData !== undefined) socket.off('data', onData)
      if (!socket.destroyed) endSocket(socket)
    },
    destroy: () => void socket.destroy(),
  }
}
