import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { resolve } from 'node:path'
import { type Channel, ChannelError, type Envelope } from '../../jsonrpc/channel.ts'
import { withMaxBytes } from '../../jsonrpc/codec/decode-rules.ts'
import { limits } from '../../util/limits/limits.ts'
import { countedAddress } from '../../util/sockets/address.ts'
import { HeldBytes, type HeldBytesOptions } from '../../util/sockets/held-bytes.ts'
import {
  authority,
  bind,
  type ConnectionLimits,
  type Listener,
  limitConnections,
  serverListener,
  systemCode,
} from '../listener.ts'
import { type OpeningOptions, opening } from '../opening.ts'
import { type StreamOptions, streamChannel } from '../stream/stream.ts'
import { bindSocketFile } from './socket-file.ts'

/** A TCP host and port, or the path of a Unix socket or Windows named pipe. */
export type SocketTarget =
  | {
      /** A host name or an IP address. */
      readonly host: string
      /** The number of the TCP port. */
      readonly port: number
    }
  | {
      /** The path of the Unix socket or the named pipe. */
      readonly path: string
    }

/** Options of `connectSocket`. */
export interface ConnectSocketOptions extends StreamOptions, OpeningOptions {}

/** Options of `listenSocket`. */
export interface ListenSocketOptions extends StreamOptions, ConnectionLimits, HeldBytesOptions {
  /** Called for a connection that was refused (`'too-many'`) or could not be accepted. */
  readonly onError?: (error: Error) => void
}

/**
 * Opens a connection. Rejects with a ChannelError `'timeout'` or `'refused'` that names the
 * address, or with the signal's reason.
 */
export function connectSocket(
  target: SocketTarget,
  options: ConnectSocketOptions = {},
): Promise<Channel> {
  const maxBytes = limits.socketMessageBytes.default
  return opening(nameOf(target), options, (opened, failed) => {
    const socket = connect({ ...target, ...tuning })
    // Never removed, because an error event after the socket was abandoned would crash the process.
    socket.on('error', cause => failed(connectError(target, cause)))
    socket.once('connect', () => opened(socketChannel(socket, options, maxBytes)))
    return () => socket.destroy()
  })
}

/**
 * Listens, and passes each connection to `accept` as a channel that is not open yet. The host
 * `localhost` always means 127.0.0.1, however the system resolves that name.
 *
 * A socket file is accessible to its owner only. A stale file of a dead server is replaced, one whose
 * server answers never. Rejects with a ChannelError `'refused'` that names the address.
 */
export async function listenSocket(
  target: SocketTarget,
  options: ListenSocketOptions,
  accept: (channel: Channel) => void,
): Promise<Listener> {
  const { onError } = options
  const shared = { ...options, held: options.held ?? new HeldBytes(options) }
  const connections = new Map<Socket, Channel>()
  const server = createServer(tuning, socket => {
    if (socket.destroyed) return
    const envelope = { ...shared.envelope, ...addressOf(socket) }
    const channel = socketChannel(
      socket,
      { ...shared, envelope },
      limits.callerMessageBytes.default,
    )
    connections.set(socket, channel)
    socket.once('close', () => connections.delete(socket))
    accept(channel)
  })
  limitConnections(server, options)
  const address = await bindTo(server, target)
  // After binding, errors are failed accepts (EMFILE): that connection is lost, the server is not.
  server.on('error', error => onError?.(error))
  return serverListener(server, address, {
    channels: () => connections.values(),
    destroy: () => {
      for (const socket of connections.keys()) socket.destroy()
    },
  })
}

const tuning = {
  // Messages are small and must not be delayed.
  noDelay: true,
  // The system then probes once a second, ten times: a vanished peer is detected after 40 seconds.
  keepAlive: true,
  keepAliveInitialDelay: 30_000,
  // A peer that has ended its half still gets its responses.
  allowHalfOpen: true,
} as const

function socketChannel(socket: Socket, options: StreamOptions, maxBytes: number): Channel {
  const decode = withMaxBytes(options.decode, 'socket', maxBytes)
  return streamChannel(socket, socket, {
    oversize: 'close',
    turnBytes: limits.turnBytes.default,
    ...options,
    decode,
  })
}

/** Returns the address of the peer for its messages; a socket file has none. */
function addressOf({ remoteAddress }: Socket): Pick<Envelope, 'address'> {
  if (remoteAddress === undefined) return {}
  return { address: includesLocal => countedAddress(remoteAddress, { includesLocal }) }
}

async function bindTo(server: Server, target: SocketTarget): Promise<string> {
  if ('path' in target) {
    if (isPipe(target.path)) {
      await bind(server, nameOf(target), target)
      return nameOf(target)
    }
    const path = resolve(target.path)
    await bindSocketFile(server, path)
    return nameOf({ path })
  }
  const host = target.host === 'localhost' ? '127.0.0.1' : target.host
  await bind(server, nameOf(target), { host, port: target.port })
  // The check: a server bound to a host and a port has this form of address.
  const bound = server.address() as AddressInfo
  return nameOf({ host: bound.address, port: bound.port })
}

const pipes = '\\\\.\\pipe\\'

function isPipe(path: string): boolean {
  return path.startsWith(pipes)
}

function nameOf(target: SocketTarget): string {
  if ('host' in target) return `tcp://${authority(target.host, target.port)}`
  return isPipe(target.path) ? `pipe:${target.path.slice(pipes.length)}` : `unix:${target.path}`
}

function connectError(target: SocketTarget, cause: Error): ChannelError {
  const code = systemCode(cause)
  const isTimeout = code === 'ETIMEDOUT'
  const reason = isTimeout ? 'no answer' : (reasons.get(code ?? '') ?? cause.message)
  return new ChannelError(
    isTimeout ? 'timeout' : 'refused',
    `connecting to ${nameOf(target)}: ${reason}`,
    {
      cause,
    },
  )
}

const reasons = new Map([
  ['ECONNREFUSED', 'nothing listens there'],
  ['ENOENT', 'no such file'],
  ['ENOTFOUND', 'no such host'],
  ['EACCES', 'no permission'],
])
