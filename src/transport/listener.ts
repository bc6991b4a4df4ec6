import { once } from 'node:events'
import { type AddressInfo, isIPv6, type ListenOptions, type Server } from 'node:net'
import { type Channel, ChannelError } from '../jsonrpc/channel.ts'
import { errorMessage } from '../util/error-message.ts'
import { limits } from '../util/limits/limits.ts'

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
  /** Stops, closes every connection and waits for that, in bounded time. Idempotent; never rejects. */
  close(): Promise<void>
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

/**
 * Limits the connections of a server. Further ones are closed at once and reported to `onError` as
 * `'too-many'`.
 */
export function limitConnections(
  server: Server,
  maxConnections: number = limits.connections.default,
  onError?: (error: Error) => void,
): void {
  server.maxConnections = maxConnections
  server.on('drop', dropped => {
    const from = dropped?.remoteAddress === undefined ? '' : ` from ${dropped.remoteAddress}`
    const message = `refused a connection${from}: ${maxConnections} are open already`
    onError?.(new ChannelError('too-many', message))
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
  return { host: name === 'localhost' ? '127.0.0.1' : name, port: Number(url.port || 80) }
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
  /** Destroys every connection, including those that are no channel yet. */
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
