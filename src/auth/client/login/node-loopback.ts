import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { deferred } from '../../../util/promises.ts'
import type { RedirectListener, RedirectOptions } from './redirect.ts'

/** The redirect address; a port of 0 or none is any free one. */
export interface LoopbackAddress {
  readonly port?: number
  readonly host?: string
  readonly path: string
}

/** Waits on the loopback interface for the browser to return from a login. */
export async function listenOnLoopback(
  { port, host = '127.0.0.1', path }: LoopbackAddress,
  { registered, isExpected }: RedirectOptions,
): Promise<RedirectListener> {
  const arrived = deferred<URL>()
  const address = host === '[::1]' ? '::1' : '127.0.0.1'
  const server = createServer((request, response) => {
    const callback = callbackOf(request, names, path)
    if (typeof callback === 'number')
      answer(response, callback, 'This page is only for logging in.')
    else if (!isExpected(callback)) answer(response, 400, 'This login is not known here.')
    else {
      answer(response, 200, 'You can close this page and return to the program.')
      arrived.resolve(callback)
    }
  })
  const wanted = port === undefined ? portsOf(registered, path) : []
  const bound = await listen(server, address, [...wanted, port ?? 0])
  const other = host === '127.0.0.1' ? 'localhost' : '127.0.0.1'
  const hosts = address === '::1' ? [host] : [host, other]
  const names = hosts.map(name => `${name}:${bound}`)
  return {
    uris: names.map(name => `http://${name}${path}`),
    callback: arrived.promise,
    close: async () => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeIdleConnections()
      // The page is still being sent. A browser that does not read it must not delay the program.
      const timer = setTimeout(() => server.closeAllConnections(), LAST_PAGE_MS)
      await closed
      clearTimeout(timer)
    },
  }
}

/** The time that a browser has to read the last page. */
const LAST_PAGE_MS = 500

/** Returns the address of a redirect, or the status that refuses any other request. */
function callbackOf(
  { method, url = '', headers }: IncomingMessage,
  names: readonly string[],
  path: string,
): URL | number {
  const { host = '' } = headers
  if (!names.includes(host.toLowerCase())) return 421
  // Not relative to the host: a path that starts with two slashes would name another one.
  const address = `http://${host}${url}`
  if (!url.startsWith('/') || !URL.canParse(address)) return 404
  const callback = new URL(address)
  if (callback.pathname !== path) return 404
  return method === 'GET' ? callback : 405
}

/** Answers with fixed text: nothing of a request is ever repeated on the page. */
function answer(response: ServerResponse, status: number, text: string): void {
  const page = `<!doctype html><meta charset="utf-8"><title>Trunkline</title><p>${text}</p>\n`
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(page),
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  })
  response.end(page)
}

/** Returns the ports of the addresses that this client is registered with. */
function portsOf(registered: readonly string[], path: string): readonly number[] {
  const ports = registered.flatMap(uri => {
    const { protocol, hostname, port, pathname } = new URL(uri)
    const isOurs = protocol === 'http:' && pathname === path && port !== ''
    return isOurs && /^(?:127\.0\.0\.1|localhost|\[::1\])$/.test(hostname) ? [Number(port)] : []
  })
  return [...new Set(ports)]
}

/** Binds the first port that is free, and returns it. */
async function listen(server: Server, host: string, ports: readonly number[]): Promise<number> {
  for (const [at, port] of ports.entries()) {
    try {
      server.listen(port, host)
      await once(server, 'listening')
      break
    } catch (error) {
      if (at === ports.length - 1) throw error
    }
  }
  const bound = server.address()
  return typeof bound === 'object' && bound !== null ? bound.port : 0
}
