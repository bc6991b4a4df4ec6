import type { HttpHandler } from './http/exchange.ts'
import type { HttpServerOptions } from './http/node/server.ts'
import { type Channel, ChannelError } from './jsonrpc/channel.ts'
import type { WireOptions } from './protocol.ts'
import {
  bind,
  boundAddress,
  hostAndPort,
  type Listener,
  limitConnections,
} from './transport/listener.ts'
import { limits } from './util/limits/limits.ts'
import { systemClock } from './util/time/clock.ts'
import { withTimeout } from './util/time/sleep.ts'
import type { Traffic } from './util/traffic.ts'

/** Options of {@link listenHttp}. */
export interface ListenHttpOptions extends WireOptions {
  /** Creates the handler of requests on a path. */
  readonly service: (path: string) => Promise<HttpHandler>
  readonly maxConnections?: number
  readonly allowedHosts?: readonly string[]
  readonly allowedOrigins?: readonly string[]
  readonly drainMs?: number
  readonly http?: HttpServerOptions
  readonly onError?: (error: unknown) => void
  /** Counts the bytes of all connections. */
  readonly traffic?: Traffic
}

/**
 * Listens for HTTP on a port, and hands the WebSockets that clients open on the same path to `accept`.
 * Closing the listener completes the requests in flight, ends streams and sessions, and then destroys
 * the remaining connections.
 */
export async function listenHttp(
  url: URL,
  options: ListenHttpOptions,
  accept: (channel: Channel) => unknown,
): Promise<Listener> {
  if (url.protocol !== 'http:') {
    const why = 'TLS is for a proxy in front; listen on http:'
    throw new ChannelError('refused', `listening on ${url.href}: ${why}`)
  }
  const { nodeServer } = await import('./http/node/server.ts')
  const { writeBatch } = await import('./http/node/write-batch.ts')
  const { acceptWebSockets } = await import('./transport/websocket/server.ts')
  const { pathname } = url
  const service = await options.service(pathname)
  const front = nodeServer(service, { ...options, ...options.http })
  const { server } = front
  await bind(server, url.href, hostAndPort(url))
  server.on('error', error => options.onError?.(error))
  limitConnections(server, options.maxConnections, options.onError)
  server.on('connection', socket => options.traffic?.watch(socket))
  const sockets = acceptWebSockets(server, { ...options, path: pathname }, accept)
  const ended = new Promise<void>(resolve => {
    server.once('close', resolve)
  })
  const stop = (): void => {
    sockets.stop()
    if (server.listening) server.close()
  }
  const end = async (): Promise<void> => {
    stop()
    await service.close({ drainMs: options.drainMs })
    await Promise.all(Array.from(sockets.channels, channel => channel.close()))
    // Requests that have started to arrive may still complete, within closeIdleMs.
    writeBatch.flush()
    front.closeIdle()
    // Polling, because Node has no event for a connection that becomes idle after its response.
    const sweeping = setInterval(() => front.closeIdle(), 10)
    await withTimeout(limits.closeIdleMs.default, systemClock, done => void ended.then(done))
    clearInterval(sweeping)
    front.cut()
    await ended
  }
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= end()
    return closing
  }
  const address = `http://${boundAddress(server)}${pathname}`
  return { address, ended, stop, close, [Symbol.asyncDispose]: close }
}
