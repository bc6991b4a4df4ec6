import type { HttpHandler } from './http/exchange.ts'
import type { HttpTimeouts } from './http/node/server.ts'
import { type Channel, ChannelError } from './jsonrpc/channel.ts'
import type { WireOptions } from './protocol.ts'
import { bind, boundTo, type Listener, limitConnections, placeOf } from './transport/listener.ts'
import { within } from './transport/within.ts'
import { limits } from './util/limits/limits.ts'
import { systemClock } from './util/time/clock.ts'
import type { Traffic } from './util/traffic.ts'

/** What listening over HTTP needs. */
export interface HttpListening extends WireOptions {
  /** Makes what answers requests on a path. */
  readonly service: (path: string) => Promise<HttpHandler>
  readonly maxConnections?: number
  readonly allowedHosts?: readonly string[]
  readonly allowedOrigins?: readonly string[]
  readonly drainMs?: number
  readonly http?: HttpTimeouts
  readonly onError?: (error: unknown) => void
  /** Counts what passes. */
  readonly traffic?: Traffic
}

/**
 * Listens for HTTP on a port; WebSockets that are opened on the same path are handed to `accept`.
 * Closing answers what is in flight, ends streams and sessions, and cuts what is left.
 */
export async function listenHttp(
  url: URL,
  options: HttpListening,
  accept: (channel: Channel) => unknown,
): Promise<Listener> {
  if (url.protocol !== 'http:') {
    const why = 'TLS is for a proxy in front; listen on http:'
    throw new ChannelError('refused', `listening on ${url.href}: ${why}`)
  }
  const { nodeServer } = await import('./http/node/server.ts')
  const { departures } = await import('./http/node/write-batch.ts')
  const { acceptWebSockets } = await import('./transport/websocket/server.ts')
  const { pathname } = url
  const service = await options.service(pathname)
  const front = nodeServer(service, { ...options, ...options.http })
  const { server } = front
  await bind(server, url.href, placeOf(url))
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
    // What had begun to arrive may still be answered; whatever is left then has had its time.
    departures.flush()
    front.closeSpares()
    // A connection is idle only once its answer has left, which Node does not tell.
    const sweeping = setInterval(() => front.closeSpares(), 10)
    await within(limits.closeIdleMs.default, systemClock, done => void ended.then(done))
    clearInterval(sweeping)
    front.cut()
    await ended
  }
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= end()
    return closing
  }
  const address = `http://${boundTo(server)}${pathname}`
  return { address, ended, stop, close, [Symbol.asyncDispose]: close }
}
