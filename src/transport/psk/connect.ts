import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { parsePskAddress } from './address.ts'
import { type ByteSocket, byteSocket } from './byte-socket.ts'
import { connectFailure } from './handshake-failure.ts'
import { type PskKey, pskClientOptions } from './key.ts'

/**
 * Opens a connection: TLS with the key over TCP, plain bytes over a Unix socket. Calls `opened` when both sides have
 * proved that they know the key. Throws a TypeError for an address that cannot be read.
 */
export function connectPsk(address: string, key: PskKey, opened: () => void): ByteSocket {
  const target = parsePskAddress(address)
  const socket =
    'path' in target
      ? connect(target.path, opened)
      : connectTls({ ...target, ...pskClientOptions(key) }, opened)
  return byteSocket(socket, connectFailure)
}
