import type { HttpHandler } from './http/exchange.ts'
import type { HttpServerOptions } from './http/node/server.ts'
import type { Channel } from './jsonrpc/channel.ts'
import type { Authenticator } from './mcp/authenticator.ts'
import type { WireOptions } from './protocol.ts'
import {
  bind,
  boundAddress,
  type ConnectionLimits,
  hostAndPort,
  limitConnections,
  type TransportListener,
} from './transport/listener.ts'
import type { TlsOptions } from './transport/tls/certificate.ts'
import type { ServerTls } from './transport/tls/server.ts'
import { trustedProxies } from './transport/trusted-proxies.ts'
import { limits } from './util/limits/limits.ts'
import { HeldBytes, type HeldBytesOptions } from './util/sockets/held-bytes.ts'
import { systemClock } from './util/time/clock.ts'
import { withTimeout } from './util/time/sleep.ts'
import type { Traffic } from './util/traffic.ts'

/** Options of {@link listenHttp}. */
export interface ListenHttpOptions extends WireOptions, ConnectionLimits, HeldBytesOptions {
  /** Creates the handler of requests on a path. */
  readonly service: (path: string) => Promise<HttpHandler>
  readonly allowedHosts?: readonly string[]
  readonly allowedOrigins?: readonly string[]
  readonly drainMs?: number
  readonly http?: HttpServerOptions
  /** The certificate for `https:`. */
  readonly tls?: TlsOptions
  /** Authenticates the handshakes of WebSockets; the service authenticates requests. */
  readonly auth?: Authenticator | undefined
  /** Called with the bound address. Throws a TypeError if nothing may be served there. */
  readonly onAddress?: ((address: string) => void) | undefined
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
): Promise<TransportListener> {
  const { nodeServer } = await import('./http/node/server.ts')
  const { writeBatch } = await import('./http/node/write-batch.ts')
  const { acceptWebSockets } = await import('./transport/websocket/server.ts')
  const { pathname } = url
  const service = await options.service(pathname)
  const held = new HeldBytes(options)
  const isProxy = options.trustedProxies && trustedProxies(options.trustedProxies)
  const tls = url.protocol === 'https:' ? await readTls(url, options) : undefined
  const front = nodeServer(service, { ...options, ...options.http, held, isProxy }, tls)
  const { server } = front
  await bind(server, url.href, hostAndPort(url))
  server.on('error', error => options.onError?.(error))
  limitConnections(server, options)
  server.on(front.ready, socket => options.traffic?.watch(socket))
  const address = `${url.protocol}//${boundAddress(server)}${pathname}`
  const authenticate = await authenticateHandshakes(options, isProxy)
  try {
    options.auth?.bind(address)
    options.onAddress?.(address)
  } catch (error) {
    server.close()
    throw error
  }
  const accepting = { ...options, path: pathname, held, ...(authenticate && { authenticate }) }
  const sockets = acceptWebSockets(server, accepting, accept)
  const ended = new Promise<void>(resolve => {
    server.once('close', resolve)
  })
  const stop = (): void => {
    sockets.stop()
    if (server.listening) server.close()
  }
  const { drainMs = limits.drainMs.default } = options
  // Connections stay as they are: those that a proxy opens instead could be refused.
  const retire = (): void => service.retire?.()
  let sweeping: NodeJS.Timeout | undefined
  const drain = async (): Promise<void> => {
    stop()
    retire()
    front.retire()
    const lingersUntil = systemClock.now() + limits.drainIdleMs.default
    // Polling, because Node has no event for a connection that becomes idle after its response. Not at
    // once, because a request may be on its way on any connection that was promised to stay open. After
    // what has arrived was read: a process that was stopped for a while runs its timers first.
    sweeping = setInterval(() => {
      if (systemClock.now() >= lingersUntil) setImmediate(() => front.closeIdle())
    }, 10)
    await service.drain({ drainMs })
    writeBatch.flush()
  }
  const end = async (): Promise<void> => {
    const until = systemClock.now() + drainMs
    if (sweeping === undefined) await drain()
    await Promise.all(Array.from(sockets.channels, channel => channel.close()))
    // Requests that have started to arrive may still complete, within closeIdleMs.
    await withTimeout(limits.closeIdleMs.default, systemClock, done => void ended.then(done))
    await service.close({ drainMs: Math.max(0, until - systemClock.now()) })
    writeBatch.flush()
    clearInterval(sweeping)
    front.cut()
    await ended
  }
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= end()
    return closing
  }
  const reload = tls?.renew(server)
  return { address, ended, stop, reload, retire, drain, close, [Symbol.asyncDispose]: close }
}

async function authenticateHandshakes(
  { auth }: ListenHttpOptions,
  isProxy: ((address: string) => boolean) | undefined,
) {
  if (auth === undefined) return undefined
  const { handshakeGuard } = await import('./listen-auth.ts')
  return handshakeGuard(auth, isProxy)
}

async function readTls({ href }: URL, { tls, onError }: ListenHttpOptions): Promise<ServerTls> {
  const { tlsFor } = await import('./transport/tls/server.ts')
  return tlsFor(href, tls, onError)
}
