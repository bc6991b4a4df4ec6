import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/**
 * Connects, sends these bytes, and from then on neither reads nor closes. `isCut` tells whether the server
 * has destroyed the connection; it sends a byte to find out, which must not prolong anything.
 */
export async function silentClient(
  port: number,
  bytes: string | Uint8Array,
): Promise<{ readonly socket: Socket; isCut(): boolean }> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  socket.on('error', () => {}).pause()
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  socket.write(bytes)
  const isCut = (): boolean => {
    if (!socket.destroyed) socket.write('x')
    return socket.destroyed
  }
  return { socket, isCut }
}
