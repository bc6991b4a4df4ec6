import { parseAddress } from './address.ts'
import { type Transport, transportOf, transports } from './transports.ts'

/** The environment variables of a process. */
export type ProcessEnvironment = Readonly<Record<string, string | undefined>>

/**
 * Returns the addresses that a program should serve on: those its arguments name, else the one its
 * environment variables name, else `stdio:`.
 *
 * Other arguments are ignored, because the program has its own. Throws a TypeError that names an invalid
 * argument or variable.
 */
export function addressesOf(argv: readonly string[], env: ProcessEnvironment): readonly string[] {
  const host = nonEmpty(env.MCP_HOST) ?? '127.0.0.1'
  const wanted = fromArguments(argv, { host, env })
  if (wanted.length > 0) return wanted
  const name = nonEmpty(env.MCP_TRANSPORT)?.toLowerCase() ?? 'stdio'
  const transport = byFlag.get(name)
  if (transport === undefined) {
    const names = [...byFlag.keys()].join(', ')
    throw new TypeError(`MCP_TRANSPORT must be one of ${names} (got "${name}")`)
  }
  return [addressFor(transport, name, undefined, { host, env })]
}

/**
 * Returns the certificate that arguments (`--tls-cert`, `--tls-key`) or environment variables
 * (`MCP_TLS_CERT`, `MCP_TLS_KEY`) name; undefined if there is none. Throws a TypeError if one is missing.
 */
export function tlsOf(
  argv: readonly string[],
  env: ProcessEnvironment,
): { readonly cert: string; readonly key: string } | undefined {
  const cert = argumentOf(argv, '--tls-cert') ?? nonEmpty(env.MCP_TLS_CERT)
  const key = argumentOf(argv, '--tls-key') ?? nonEmpty(env.MCP_TLS_KEY)
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined) throw new TypeError('--tls-key needs --tls-cert, or MCP_TLS_CERT')
  if (key === undefined) throw new TypeError('--tls-cert needs --tls-key, or MCP_TLS_KEY')
  return { cert, key }
}

function argumentOf(argv: readonly string[], flag: string): string | undefined {
  const at = argv.findIndex(one => one === flag || one.startsWith(`${flag}=`))
  return argv[at] === flag ? argv[at + 1] : argv[at]?.slice(flag.length + 1)
}

/**
 * Returns the argument that makes `serve` listen on an address, and the URL path, which has a variable
 * (`MCP_PATH`) but no argument. Throws a TypeError for an invalid address.
 */
export function flagFor(address: string): { readonly flag: string; readonly path?: string } {
  const { locator } = transportOf(parseAddress(address))
  const scheme = address.slice(0, address.indexOf(':')).toLowerCase()
  const flag = `--${scheme}`
  const rest = address.slice(address.indexOf(':') + 1)
  if (locator === 'none') return { flag }
  if (locator === 'path') return { flag: `${flag}=${rest}` }
  const usual = scheme.endsWith('s') ? '443' : '80'
  const [, host, port = usual, urlPath] = urlParts.exec(rest) ?? []
  const withPort = `${flag}=${host || 'localhost'}:${port}`
  return locator === 'url' ? { flag: withPort, path: urlPath || '/' } : { flag: withPort }
}

const urlParts = /^\/\/(?:[^/?#@]*@)?(\[[^\]]*\]|[^:/?#]*)(?::(\d+))?([^?#]*)/

/** The defaults for the parts of an address that an argument leaves out. */
interface Defaults {
  readonly host: string
  readonly env: ProcessEnvironment
}

/** The transports by the name of their flag, which is the scheme of their addresses. */
const byFlag = new Map<string, Transport>()
for (const transport of transports) byFlag.set(transport.scheme, transport)
for (const transport of transports) {
  if (transport.secureScheme !== undefined) byFlag.set(transport.secureScheme, transport)
}

/** Builds the address that a flag and its value ask for. */
function addressFor(
  { locator }: Transport,
  scheme: string,
  value: string | undefined,
  defaults: Defaults,
): string {
  switch (locator) {
    case 'none':
      return `${scheme}:`
    case 'path':
      return `${scheme}:${path(`--${scheme}`, value, defaults)}`
    case 'port':
      return `${scheme}://${authority(`--${scheme}`, value, defaults)}`
    case 'url':
      return `${scheme}://${authority(`--${scheme}`, value, defaults)}${urlPath(defaults)}`
  }
}

function fromArguments(argv: readonly string[], defaults: Defaults): string[] {
  const wanted: string[] = []
  for (let i = 0; i < argv.length; i++) {
    const [, name = '', inline] = /^--([a-z]+)(?:=(.*))?$/s.exec(argv[i] ?? '') ?? []
    const transport = byFlag.get(name)
    if (transport === undefined) continue
    const next = argv[i + 1]
    const takesNext =
      transport.locator !== 'none' && inline === undefined && next?.startsWith('-') === false
    wanted.push(addressFor(transport, name, takesNext ? next : inline, defaults))
    if (takesNext) i++
  }
  return wanted
}

/** Parses `3000` or `host:3000`; without a value, takes the port from the environment. */
function authority(flag: string, value: string | undefined, { host, env }: Defaults): string {
  const wanted = value ?? nonEmpty(env.MCP_PORT) ?? nonEmpty(env.PORT)
  if (wanted === undefined) {
    throw new TypeError(`${flag} needs a port: "${flag} 3000", or MCP_PORT in the environment`)
  }
  const [, name, port] = /^(?:(\[[^\]]+\]|[^\s:/]+):)?(\d{1,5})$/.exec(wanted) ?? []
  if (port !== undefined && Number(port) <= 65535) return `${name ?? bracketed(host)}:${port}`
  throw new TypeError(`${flag} takes a port, or a host and a port, not "${wanted}"`)
}

function path(flag: string, value: string | undefined, { env }: Defaults): string {
  const wanted = value ?? nonEmpty(env.MCP_PATH)
  if (wanted === undefined)
    throw new TypeError(`${flag} needs a path, or MCP_PATH in the environment`)
  return wanted
}

function urlPath({ env }: Defaults): string {
  const wanted = nonEmpty(env.MCP_PATH) ?? '/mcp'
  return wanted.startsWith('/') ? wanted : `/${wanted}`
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

/** Treats an empty variable as unset, because shells and compose files leave such variables. */
function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}
