import { once } from 'node:events'
import { type AddressInfo, isIPv6, type ListenOptions, type Server } from 'node:net'
import { type Channel, ChannelError } from '../jsonrpc/channel.ts'
import { errorWords } from '../util/error-words.ts'
import { limits } from '../util/limits/limits.ts'

/** Something that accepts connections, or, on stdio, serves the only one there is. */
export interface Listener extends AsyncDisposable {
  /** The address really bound, in the form that `connect` takes. */
  readonly address: string
  /**
   * Resolves when everything is over: after `close()`, or, on stdio, when the input has ended and
   * the answers are written. Never rejects.
   */
  readonly ended: Promise<void>
  /** Accepts nothing more; the connections there are live on. May be called twice. */
  stop(): void
  /** Stops, closes every connection and waits for it, in bounded time. Idempotent; never rejects. */
  close(): Promise<void>
}

/** Binds a server. Rejects with a ChannelError `'refused'` whose cause is the system's error. */
export async function bind(server: Server, address: string, options: ListenOptions): Promise<void> {
  try {
    server.listen(options)
    await once(server, 'listening')
  } catch (cause) {
    throw new ChannelError('refused', `listening on ${address}: ${bindFailure(cause)}`, { cause })
  }
}

/**
 * Lets a server have no more than so many connections. Further ones are closed at once, and
 * `onError` is told `'too-many'`.
 */
export function limitConnections(
  server: Server,
  maxConnections: number = limits.connections.default,
  onError?: (error: Error) => void,
): void {
  server.maxConnections = maxConnections
  server.on('drop', dropped => {
    const from = dropped?.remoteAddress === undefined ? '' : ` from ${dropped.remoteAddress}`
    const what = `a connection${from} was refused: there are ${maxConnections} already`
    onError?.(new ChannelError('too-many', what))
  })
}

/** The code of a system error, such as `'EADDRINUSE'`. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** A host and a port as they stand in an address: IPv6 in brackets. */
export function authority(host: string, port: number): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`
}

/** The host and port of a URL to listen on; the host `localhost` means 127.0.0.1. */
export function placeOf(url: URL): { readonly host: string; readonly port: number } {
  const name = url.hostname.replace(/^\[|\]$/g, '')
  return { host: name === 'localhost' ? '127.0.0.1' : name, port: Number(url.port || 80) }
}

/** The host and port that a server is really bound to, as they stand in an address. */
export function boundTo(server: Server): string {
  // The check: a server bound to a host and a port has this form of address.
  const { address, port } = server.address() as AddressInfo
  return authority(address, port)
}

/** What a server has accepted. */
export interface Accepted {
  /** The channels that are open now. */
  channels(): Iterable<Channel>
  /** Cuts every connection, whether it is a channel yet or not. */
  cut(): void
}

/** The listener of a Node server that is bound. */
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
    // Whatever is left has had its time.
    accepted.cut()
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
      return 'this machine has no such address'
    default:
      return errorWords(cause)
  }
}
