/** Where to listen or connect, taken apart. */
export type Address =
  | { readonly kind: 'stdio' }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'pipe'; readonly path: string }
  | { readonly kind: 'websocket'; readonly url: URL }
  | { readonly kind: 'http'; readonly url: URL }

/**
 * Reads an address. A host that is left out (`tcp://:4000`) is `localhost`; a relative path stays
 * relative. Throws a TypeError that names the address and the forms there are.
 */
export function parseAddress(text: string, platform: string = process.platform): Address {
  // Callers the compiler never saw pass anything.
  if (typeof text !== 'string')
    throw new TypeError(`an address is a string; the forms are ${forms}`)
  const colon = text.indexOf(':')
  const scheme = text.slice(0, colon).toLowerCase()
  const rest = text.slice(colon + 1)
  switch (colon === -1 ? '' : scheme) {
    case 'stdio':
      if (rest !== '') throw unreadable(text, 'nothing follows "stdio:"')
      return { kind: 'stdio' }
    case 'tcp':
      return tcp(text, rest)
    case 'unix':
      return { kind: 'unix', path: unixPath(text, rest, platform) }
    case 'pipe':
      return { kind: 'pipe', path: pipePath(text, rest, platform) }
    case 'ws':
    case 'wss':
      return { kind: 'websocket', url: urlOf(text, scheme, rest) }
    case 'http':
    case 'https':
      return { kind: 'http', url: urlOf(text, scheme, rest) }
    default:
      throw unreadable(text)
  }
}

const forms =
  'stdio:, tcp://host:port, unix:path, pipe:name, ws://host:port/path, http://host:port/path'

function unreadable(text: string, why?: string): TypeError {
  const reason = why === undefined ? '' : ` (${why})`
  return new TypeError(`cannot read the address "${text}"${reason}; the forms are ${forms}`)
}

function tcp(text: string, rest: string): Address {
  // By hand: the URL class has no idea of schemes it does not know, nor of an empty host.
  const match = /^\/\/(?:\[([^\]]+)\]|([^:/?#@[\]\s]*)):(\d{1,5})\/?$/.exec(rest)
  if (match === null) throw unreadable(text, 'a host and a port are needed')
  const port = Number(match[3])
  if (port > 65_535) throw unreadable(text, 'the port is above 65535')
  return { kind: 'tcp', host: match[1] ?? (match[2] || 'localhost'), port }
}

function unixPath(text: string, rest: string, platform: string): string {
  const path = rest.startsWith('///') ? rest.slice(2) : rest
  if (path === '') throw unreadable(text, 'a path is needed')
  if (path.startsWith('//')) throw unreadable(text, 'a socket file has no host')
  // A path that starts with NUL would be Linux's abstract namespace, which knows no file modes.
  if (path.includes('\0')) throw unreadable(text, 'a path has no NUL')
  if (platform === 'win32')
    throw new TypeError(`"${text}" needs another system; use pipe:name here`)
  return path
}

function pipePath(text: string, name: string, platform: string): string {
  if (!/^[^\\/\0]+$/.test(name)) throw unreadable(text, 'a pipe name has no slashes')
  if (platform !== 'win32') {
    throw new TypeError(`"${text}" exists only on Windows; use unix:path here`)
  }
  return `\\\\.\\pipe\\${name}`
}

function urlOf(text: string, scheme: string, rest: string): URL {
  const withHost = rest.startsWith('//:') ? `//localhost${rest.slice(2)}` : rest
  if (!withHost.startsWith('//')) throw unreadable(text, 'a host is needed')
  let url: URL
  try {
    url = new URL(`${scheme}:${withHost}`)
  } catch {
    throw unreadable(text, 'it is no URL')
  }
  if (url.hash !== '') throw unreadable(text, 'a fragment is never sent')
  return url
}
