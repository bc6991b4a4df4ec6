import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { resolve } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { bind, limitConnections } from '../listener.ts'
import { bindSocketFile } from '../socket/socket-file.ts'
import { parsePskAddress, tcpAddress } from './address.ts'
import { type ByteSocket, byteSocket } from './byte-socket.ts'
import { connectFailure, handshakeFailure } from './handshake-failure.ts'
import { type PskKey, pskServerOptions } from './key.ts'

/** How `listenPsk` treats its connections. */
export interface ListenPskOptions {
  readonly key: PskKey
  /** The time for the TLS handshake in milliseconds. */
  readonly handshakeMs: number
  /** Called for each connection whose client has proved that it knows the key. */
  readonly accept: (socket: ByteSocket) => void
  /** Called for each connection that was refused. */
  readonly onError: (error: Error) => void
}

/** A listener that is bound. */
export interface PskListener {
  /** The bound address. */
  readonly address: string
  /** Accepts no further connections, closes those that are open at once and waits for that. */
  close(): Promise<void>
}

/**
 * Listens on `tcp://host:port`, with TLS and the key, or on `unix:path`, where only this user can connect. Rejects
 * with a ChannelError `'refused'` that names the address, or a TypeError if it cannot be read.
 */
export async function listenPsk(text: string, options: ListenPskOptions): Promise<PskListener> {
  const target = parsePskAddress(text)
  const { accept, onError } = options
  const accepted = (socket: Socket): void => {
    if (!socket.destroyed) accept(byteSocket(socket, connectFailure))
  }
  const server = 'path' in target ? createServer(accepted) : tlsServer(options, accepted)
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  limitConnections(server, { onError })
  const address = await ('path' in target
    ? bindFile(server, target.path)
    : bindPort(server, target))
  // After binding, errors are failed accepts (EMFILE): that connection is lost, the server is not.
  server.on('error', onError)
  const closed = new Promise<void>(done => {
    server.once('close', done)
  })
  const close = (): Promise<void> => {
    if (server.listening) server.close()
    for (const socket of sockets) socket.destroy()
    return closed
  }
  return { address, close }
}

function tlsServer(options: ListenPskOptions, accepted: (socket: Socket) => void): Server {
  const { key, handshakeMs: handshakeTimeout, onError } = options
  const server = createTlsServer({ ...pskServerOptions(key), handshakeTimeout }, accepted)
  server.on('tlsClientError', (error, socket) => {
    const from = socket.remoteAddress ?? 'a client that has gone'
    onError(new Error(`refused a connection from ${from}: ${handshakeFailure(error)}`))
    socket.destroy()
  })
  return server
}

async function bindFile(server: Server, file: string): Promise<string> {
  const path = resolve(file)
  await bindSocketFile(server, path, ownSocket)
  return `unix:${path}`
}

async function bindPort(server: Server, target: { host: string; port: number }): Promise<string> {
  await bind(server, tcpAddress(target.host, target.port), { ...target, ...ownSocket })
  // The check: a server bound to a host and a port has this form of address.
  const { address, port } = server.address() as AddressInfo
  return tcpAddress(address, port)
}

/** Of this process alone: without it, the workers of `node:cluster` would share an address. */
const ownSocket = { exclusive: true }
