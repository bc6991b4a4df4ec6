import { once } from 'node:events'
import { type AddressInfo, isIPv6, type ListenOptions, type Server, type Socket } from 'node:net'
import { type Channel, ChannelError } from '../jsonrpc/channel.ts'
import { limits } from '../util/limits/limits.ts'
import { countedAddress } from '../util/sockets/address.ts'
import { errorMessage } from '../util/text/error-message.ts'
import { fileReserve } from './file-limit.ts'
import { trustedProxies } from './trusted-proxies.ts'

/** Accepts connections or, on stdio, serves the only one. */
export interface Listener extends AsyncDisposable {
  /** The bound address, in the form that `connect` accepts. */
  readonly address: string
  /**
   * Resolves when the listener and its connections have closed: after `close()` or, on stdio, when the
   * input has ended and the responses are written. Never rejects.
   */
  readonly ended: Promise<void>
  /** Accepts no further connections; existing ones stay open. Idempotent. */
  stop(): void
  /**
   * Over TLS: reads certificate and key again. Connections stay open; if the new ones cannot be used, the
   * old ones stay. Never rejects.
   */
  reload?(): Promise<void>
  /** Stops, closes every connection and waits for that, in bounded time. Idempotent; never rejects. */
  close(): Promise<void>
}

/** The listener of a transport, which `listen` closes in steps. */
export interface TransportListener extends Listener {
  /** Announces to load balancers that the listener is about to close, and continues to accept connections. */
  retire?(): void
  /** Stops, and completes what belongs to no connection that was handed on. Never rejects. */
  drain?(): Promise<void>
}

/** Binds a server. Rejects with a ChannelError `'refused'` whose cause is the system error. */
export async function bind(server: Server, address: string, options: ListenOptions): Promise<void> {
  try {
    server.listen(options)
    await once(server, 'listening')
  } catch (cause) {
    throw new ChannelError('refused', `listening on ${address}: ${bindFailure(cause)}`, { cause })
  }
}

/** Limits on the number of connections of a server. */
export interface ConnectionLimits {
  /** Maximum number of open connections; 10,000 by default. Further ones are closed at once. */
  readonly maxConnections?: number
  /**
   * How many connections one client address may have open at a time. If it is set, it also holds for
   * addresses of this machine and of private networks.
   */
  readonly maxConnectionsPerAddress?: number
  /**
   * Addresses or networks (`10.0.0.0/8`) of proxies in front, whose connections belong to many clients
   * and are not limited.
   */
  readonly trustedProxies?: readonly string[]
  /** Called for each connection that was refused. */
  readonly onError?: (error: Error) => void
}

/**
 * Limits the connections of a server, in all, for each client address and by the file handles that are
 * left. Further ones are closed at once and reported to `onError` as `'too-many'`; other listeners for
 * connections find them destroyed. Throws a TypeError for an invalid proxy.
 */
export function limitConnections(server: Server, options: ConnectionLimits): void {
  const { maxConnections = limits.connections.default, onError } = options
  const { maxConnectionsPerAddress, trustedProxies: proxies } = options
  const max = maxConnectionsPerAddress ?? limits.connectionsPerAddress.default
  const policy = {
    isProxy: proxies && trustedProxies(proxies),
    includesLocal: maxConnectionsPerAddress !== undefined,
  }
  const refused = (address: string | undefined, count: number): void => {
    const from = address === undefined ? '' : ` from ${address}`
    const message = `refused a connection${from}: ${count} are open already`
    onError?.(new ChannelError('too-many', message))
  }
  server.maxConnections = maxConnections
  server.on('drop', dropped => refused(dropped?.remoteAddress, maxConnections))
  const lacksFiles = fileReserve({ onError })
  const counts = new Map<string, number>()
  server.prependListener('connection', (socket: Socket) => {
    if (lacksFiles(socket)) {
      socket.destroy()
      return
    }
    const address = countedAddress(socket.remoteAddress, policy)
    if (address === undefined) return
    const count = counts.get(address) ?? 0
    if (count >= max) {
      refused(address, max)
      socket.destroy()
      return
    }
    counts.set(address, count + 1)
    socket.once('close', () => {
      const left = (counts.get(address) ?? 0) - 1
      if (left > 0) counts.set(address, left)
      else counts.delete(address)
    })
  })
}

/** Returns the code of a system error, such as `'EADDRINUSE'`. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** Returns `host:port` for an address, with an IPv6 host in brackets. */
export function authority(host: string, port: number): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`
}

/** Returns the host and port of a URL to listen on; the host `localhost` means 127.0.0.1. */
export function hostAndPort(url: URL): { readonly host: string; readonly port: number } {
  const name = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port || (/s:$/.test(url.protocol) ? 443 : 80)
  return { host: name === 'localhost' ? '127.0.0.1' : name, port: Number(port) }
}

/** Returns the `host:port` that a server is bound to. */
export function boundAddress(server: Server): string {
  // The check: a server bound to a host and a port has this form of address.
  const { address, port } = server.address() as AddressInfo
  return authority(address, port)
}

/** The connections that a server has accepted. */
export interface Accepted {
  /** Returns the open channels. */
  channels(): Iterable<Channel>
  /** Destroys every connection, including those that are not channels yet. */
  destroy(): void
}

/** Makes the Listener of a Node.js server that is bound. */
export function serverListener(server: Server, address: string, accepted: Accepted): Listener {
  const ended = new Promise<void>(resolve => {
    server.once('close', resolve)
  })
  let closing: Promise<void> | undefined
  const stop = (): void => {
    if (server.listening) server.close()
  }
  const close = (): Promise<void> => {
    closing ??= end()
    return closing
  }
  const end = async (): Promise<void> => {
    stop()
    await Promise.all(Array.from(accepted.channels(), channel => channel.close()))
    // The channels have had their time to close.
    accepted.destroy()
    await ended
  }
  return { address, ended, stop, close, [Symbol.asyncDispose]: close }
}

function bindFailure(cause: unknown): string {
  switch (systemCode(cause)) {
    case 'EADDRINUSE':
      return 'already in use'
    case 'EACCES':
      return 'no permission'
    case 'EADDRNOTAVAIL':
      return 'this machine does not have that address'
    default:
      return errorMessage(cause)
  }
}
